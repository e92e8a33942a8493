// Parallel algorithms: a swarm of particles falls to the ground, and a few questions about it.

#include <cstddef>
#include <cstdio>
#include <functional>
#include <vector>

#include <weft/weft.hpp>

namespace {

// Lengths in micrometres, times in hundredths of a second: whole numbers, the same everywhere.
struct particle {
  std::size_t id = 0;
  long height = 0;
  long speed = 0;
  int bounces = 0;

  void fall() {
    speed -= 981;
    height += speed;
    if (height >= 0) return;
    height = -height;
    speed = -speed * 4 / 5;
    ++bounces;
  }
  double metres() const { return static_cast<double>(height) / 1e6; }
};

}  // namespace

int main() {
  std::vector<particle> swarm(20'000);

  // A loop over numbers. Outside a pool it runs on pool::global(), and this thread takes part.
  weft::parallel_for(0, swarm.size(), [&](std::size_t i) {
    swarm[i] = {.id = i, .height = 1'000'000 + static_cast<long>(i * 7919 % 20'000) * 1000};
  });

  // A loop over elements.
  for (int time = 0; time < 200; ++time) {
    weft::parallel_for_each(swarm, &particle::fall);
  }

  // The sum of a projection; asked to be reproducible, it is the same to the last bit for any
  // number of workers.
  const double heights =
      weft::parallel_reduce(swarm, 0.0, std::plus<>{}, &particle::metres, {.reproducible = true});
  const int bounces = weft::parallel_reduce(swarm, 0, std::plus<>{}, &particle::bounces);
  std::printf("after 2 s: %.3f m high on average, %d bounces\n",
              heights / static_cast<double>(swarm.size()), bounces);

  // The first one by position, although several threads look.
  const auto low =
      weft::parallel_find_if(swarm, [](long h) { return h < 1000; }, &particle::height);
  if (low != swarm.end()) std::printf("the first below 1 mm: particle %zu\n", low->id);

  // Equal elements keep their order: among those with as many bounces, the lower id comes first.
  weft::parallel_stable_sort(swarm, std::greater<>{}, &particle::bounces);
  for (std::size_t i = 0; i < 3; ++i) {
    std::printf("particle %zu bounced %d times\n", swarm[i].id, swarm[i].bounces);
  }

  weft::parallel_sort(swarm, {}, &particle::id);
  std::printf("back in order: %s\n",
              weft::parallel_all_of(swarm, [&](const particle& p) { return &p == &swarm[p.id]; })
                  ? "yes"
                  : "no");
}
