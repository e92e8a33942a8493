// Jobs with a result: submit, wait, go on with the value, or with what went wrong.

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>

#include <weft/weft.hpp>

namespace {

int add(int a, int b) { return a + b; }

int parse(const std::string& text) {
  if (text.find_first_not_of("0123456789") != std::string::npos) {
    throw std::invalid_argument("not a number: " + text);
  }
  return std::stoi(text);
}

}  // namespace

int main() {
  weft::pool pool;

  // The arguments are copied or moved into the job.
  weft::future<int> sum = pool.submit(add, 1, 2);
  std::printf("1 + 2 = %d\n", sum.get());

  // then() makes a new job of the same pool. Nobody waits in between.
  weft::future<std::string> text =
      pool.submit(parse, "21").then([](int n) { return 2 * n; }).then([](int n) {
        return "doubled: " + std::to_string(n);
      });
  std::printf("%s\n", text.get().c_str());

  // What a job throws comes out of get(), and passes over every then() on its way.
  weft::future<int> wrong = pool.submit(parse, "forty").then([](int n) { return n + 1; });
  try {
    std::printf("%d\n", wrong.get());
  } catch (const std::invalid_argument& e) {
    std::printf("the job threw: %s\n", e.what());
  }

  // Waiting with a limit, and looking without waiting.
  weft::future<void> nothing = pool.submit([] {});
  const bool in_time = nothing.wait_for(std::chrono::minutes(1));
  std::printf("in time: %s, ready: %s\n", in_time ? "yes" : "no", nothing.ready() ? "yes" : "no");

  // The result is there once. Asking again is a mistake, and is told so.
  try {
    static_cast<void>(sum.get());
  } catch (const std::logic_error& e) {
    std::printf("%s\n", e.what());
  }
}
