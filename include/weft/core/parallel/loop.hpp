#pragma once

#include <cstddef>

#include <weft/core/join.hpp>
#include <weft/core/parallel/early_exit.hpp>
#include <weft/core/parallel/options.hpp>
#include <weft/core/parallel/pace.hpp>

namespace weft::detail {

// The iterations [begin, end), run chunk by chunk in order. When somebody is idle the rest is cut
// in two, and one half is there to be stolen; while nobody is, it costs what the serial loop costs.
//
// Errors: what the lowest chunk throws, for join prefers the left side.
template <class Chunk>
void run_lazily(std::size_t begin, std::size_t end, pace p, early_exit& exit, Chunk& chunk) {
  for (;;) {
    if (exit.has_left_before(begin)) return;
    const std::size_t until = p.chunk_end(begin, end);
    try {
      exit.throw_if_stopped();
      chunk(begin, until);
    } catch (...) {
      exit.leave_at(begin);
      throw;
    }
    const std::size_t done = until - begin;
    begin = until;
    if (begin == end) return;
    if (p.look_around(done, end - begin)) break;
  }
  const std::size_t middle = pace::middle(begin, end);
  p.restart();
  join([&] { run_lazily(begin, middle, p, exit, chunk); },
       [&, p]() mutable {
         p.restart();
         run_lazily(middle, end, p, exit, chunk);
       });
}

// chunk(begin, end) for pieces of [0, size).
template <class Chunk>
void for_chunks(std::size_t size, const parallel_options& options, Chunk&& chunk) {
  if (size == 0) return;
  early_exit exit(options.stop);
  run_lazily(0, size, pace(options.grain), exit, chunk);
}

}  // namespace weft::detail
