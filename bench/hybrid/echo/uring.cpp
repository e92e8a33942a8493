// A floor: coroutines straight on io_uring, a ring for each thread.

#include <liburing.h>

#include <coroutine>
#include <utility>

#include "loops.hpp"

namespace {

class ring_loop {
 public:
  // What the kernel hands back: who waits, and how it ended.
  struct operation {
    std::coroutine_handle<> waiter;
    int result = 0;
  };

  class stream_of_ring {
   public:
    stream_of_ring(ring_loop& loop, int socket) : loop_(&loop), socket_(socket) { ++loop.streams_; }
    stream_of_ring(stream_of_ring&& other) noexcept
        : loop_(other.loop_), socket_(std::exchange(other.socket_, -1)) {}
    ~stream_of_ring() {
      if (socket_ < 0) return;
      close(socket_);
      --loop_->streams_;
    }

    // `Prepare` fills the entry for the kernel.
    template <class Prepare>
    struct transfer : operation {
      transfer(ring_loop& l, Prepare p) : loop(l), prepare(p) {}
      ring_loop& loop;
      Prepare prepare;
      bool await_ready() noexcept { return false; }
      void await_suspend(std::coroutine_handle<> self) {
        waiter = self;
        io_uring_sqe* entry = loop.next_entry();
        prepare(entry);
        io_uring_sqe_set_data(entry, static_cast<operation*>(this));
      }
      std::size_t await_resume() {
        if (result < 0) bench::fail("hybrid_echo: a transfer failed");
        return static_cast<std::size_t>(result);
      }
    };

    auto read_some(std::span<char> into) {
      return transfer(*loop_, [this, into](io_uring_sqe* entry) {
        io_uring_prep_recv(entry, socket_, into.data(), into.size(), 0);
      });
    }
    // A socket's buffer always has room for the one message that is on its way.
    auto write(std::span<const char> from) {
      return transfer(*loop_, [this, from](io_uring_sqe* entry) {
        io_uring_prep_send(entry, socket_, from.data(), from.size(), MSG_NOSIGNAL);
      });
    }

   private:
    ring_loop* loop_;
    int socket_;
  };

  ring_loop() {
    constexpr unsigned entries = 2'048;
    if (io_uring_queue_init(entries, &ring_,
                            IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) != 0)
      bench::skip("io_uring is not allowed here, or the kernel is older than 6.1");
  }
  ring_loop(const ring_loop&) = delete;
  ring_loop& operator=(const ring_loop&) = delete;
  ~ring_loop() { io_uring_queue_exit(&ring_); }

  stream_of_ring stream(int socket) { return {*this, socket}; }

  void run() {
    while (streams_ > 0) {
      io_uring_submit_and_wait(&ring_, 1);
      unsigned head = 0;
      unsigned count = 0;
      io_uring_cqe* done = nullptr;
      io_uring_for_each_cqe(&ring_, head, done) {
        ++count;
        auto& finished = *static_cast<operation*>(io_uring_cqe_get_data(done));
        finished.result = done->res;
        finished.waiter.resume();
      }
      io_uring_cq_advance(&ring_, count);
    }
  }

 private:
  io_uring_sqe* next_entry() {
    if (io_uring_sqe* entry = io_uring_get_sqe(&ring_)) return entry;
    io_uring_submit(&ring_);
    return io_uring_get_sqe(&ring_);
  }

  io_uring ring_{};
  long streams_ = 0;
};

}  // namespace

int main(int argc, char** argv) { hybrid_echo::measure_loops<ring_loop>(bench::parse(argc, argv)); }
