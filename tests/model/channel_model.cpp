// A channel whose senders and receivers are called away, and that is closed: what was sent is
// received once or still there, and everybody goes on once.

#define WEFT_MODEL_THREADS 3
#include <model.hpp>
#include <model_task.hpp>

#include <coro/channel.cpp>

namespace {

using weft::channel;
using weft::model::played_task;

struct channel_suite {
  std::unique_ptr<channel<int>> c;
  std::unique_ptr<played_task> tasks[2];
  int sent = 0;
  int received = 0;

  void set_up(std::size_t capacity) {
    c = std::make_unique<channel<int>>(capacity);
    for (auto& t : tasks) t = std::make_unique<played_task>();
    sent = received = 0;
  }
  void tear_down() {
    if (c->try_receive()) ++received;
    RL_ASSERT(sent == received);
    c.reset();
    for (auto& t : tasks) t.reset();
  }
  void send(played_task& t) {
    typename channel<int>::sending s(*c, 1);
    if (t.await(s) && t.result()) ++sent;
  }
  void receive(played_task& t) {
    typename channel<int>::receiving r(*c);
    if (t.await(r) && t.result()) ++received;
  }
};

template <std::size_t Capacity>
struct both_called_away : channel_suite, rl::test_suite<both_called_away<Capacity>, 3> {
  void before() { set_up(Capacity); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) return send(*tasks[0]);
    if (i == 1) return receive(*tasks[1]);
    tasks[1]->stop();
    tasks[0]->stop();
  }
};

template <std::size_t Capacity>
struct closed_meanwhile : channel_suite, rl::test_suite<closed_meanwhile<Capacity>, 3> {
  void before() { set_up(Capacity); }
  void after() { tear_down(); }
  void thread(unsigned i) {
    if (i == 0) return send(*tasks[0]);
    if (i == 1) return receive(*tasks[1]);
    c->close();
  }
};

// Two senders, one place, one who takes: the second sender gets the place of the first.
struct room_is_made : channel_suite, rl::test_suite<room_is_made, 3> {
  void before() { set_up(1); }
  void after() {
    if (c->try_receive()) ++received;
    tear_down();
    RL_ASSERT(sent == 2);
  }
  void thread(unsigned i) {
    if (i < 2) return send(*tasks[i]);
    if (c->try_receive()) ++received;
    if (c->try_receive()) ++received;
    if (received == 0) {  // both are yet to come
      while (!c->try_receive()) weft::yield_thread();
      ++received;
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  weft::model::runner run(argc, argv);
  run.run<both_called_away<0>>("channel: called away, from hand to hand");
  run.run<both_called_away<1>>("channel: called away, with room for one");
  run.run<closed_meanwhile<0>>("channel: closed, from hand to hand");
  run.run<closed_meanwhile<1>>("channel: closed, with room for one");
  run.run<room_is_made>("channel: room is made");
  return run.exit_code();
}
