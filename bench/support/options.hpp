#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace bench {

// What the driver tells every program. All programs take the same options, so that it need not know
// them apart.
struct options {
  int threads = 1;
  bool quick = false;
  // Rounds of `bench::spin` that take one microsecond. The driver measures it once and hands the
  // same figure to every program: a task of "100 us" is then the same work for every library.
  double rounds_per_us = 400.0;
  // Which of its problem's instances a program is to run, where one program has several.
  std::string_view instance;
};

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "bench: %s\n", what);
  std::exit(EXIT_FAILURE);
}

// Exit code by which a program says "not possible here"; the driver prints the reason and goes on.
inline constexpr int exit_skipped = 77;

[[noreturn]] inline void skip(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  std::exit(exit_skipped);
}

inline options parse(int argc, char** argv) {
  options parsed;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--quick") {
      parsed.quick = true;
    } else if (flag == "--threads" && i + 1 < argc) {
      parsed.threads = std::atoi(argv[++i]);
    } else if (flag == "--rounds-per-us" && i + 1 < argc) {
      parsed.rounds_per_us = std::atof(argv[++i]);
    } else if (flag == "--instance" && i + 1 < argc) {
      parsed.instance = argv[++i];
    } else {
      fail("usage: [--threads N] [--quick] [--rounds-per-us X] [--instance NAME]");
    }
  }
  if (parsed.threads < 1 || parsed.rounds_per_us <= 0)
    fail("--threads and --rounds-per-us must be positive");
  return parsed;
}

}  // namespace bench
