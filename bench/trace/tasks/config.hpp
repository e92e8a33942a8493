#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/weft.hpp>

#include "../../support/laps.hpp"
#include "../../support/rounds.hpp"
#include "../../support/spin.hpp"

// 10,000 tasks of so much computing are spawned by a job of the pool, and joined. `time` is per
// task.
namespace trace_tasks {

struct instance {
  std::string_view name;
  double task_us;
};
inline constexpr std::array instances{instance{"1us", 1}, instance{"10us", 10}};

enum class traced { absent, off, on };

inline int measure(int argc, char** argv, traced how) {
  constexpr std::size_t tasks = 10'000;
  const auto options = bench::parse(argc, argv);
  const std::uint64_t rounds =
      bench::rounds_for_us(options, bench::chosen_instance(options, instances).task_us);
  weft::pool pool({.workers = static_cast<unsigned>(options.threads)});
  weft::trace trace;
  weft::trace_entry entry;
  if (how != traced::absent) entry = trace.add("bench", pool);
  if (how == traced::on) trace.start();
  bench::laps laps(options);
  pool.run([&] {
    while (laps.next()) {
      weft::task_group group(pool);
      for (std::size_t i = 0; i < tasks; ++i) {
        group.spawn([rounds, i] {
          auto result = bench::spin(rounds, i + 1);
          bench::opaque(result);
        });
      }
      group.wait();
    }
  });
  if (how == traced::on && trace.stats().events < tasks) {
    bench::fail("trace_tasks: it was not recorded");
  }
  bench::emit_times("time", bench::nanoseconds, laps.samples_ns(tasks));
  return 0;
}

}  // namespace trace_tasks
