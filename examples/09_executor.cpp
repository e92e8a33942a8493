// An executor: a for loop in parallel, with the results in order and the loop's own errors.

#include <cstdio>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

long price_of(const std::string& item) {
  if (item == "unicorn") throw std::invalid_argument("nobody sells a " + item);
  return static_cast<long>(item.size()) * 100;
}

}  // namespace

int main() {
  weft::executor ex;  // its size follows what the work needs and the machine has

  // Items run at the same time; results come in the order of the input.
  const std::vector<std::string> basket{"bread", "milk", "honey"};
  for (auto&& price : ex.map(price_of, basket)) std::printf("%ld\n", price);

  // As in the loop: what comes before the error is there, then the error. Nothing later begins.
  const std::vector<std::string> wishes{"tea", "unicorn", "coffee", "dragon"};
  long total = 0;
  try {
    for (auto&& price : ex.map(price_of, wishes)) total += price;
  } catch (const std::invalid_argument& error) {
    std::printf("%ld until %s\n", total, error.what());
  }

  // Several ranges side by side, an endless one among them: the shortest ends it.
  const auto line = [](int number, const std::string& item) {
    return std::to_string(number) + " " + item;
  };
  for (auto&& text : ex.map(line, std::views::iota(1), basket, {.look_ahead = 8})) {
    std::printf("%s\n", text.c_str());
  }

  // One task, and several as they finish.
  std::printf("%ld\n", ex.submit(price_of, "salt").get());
  std::vector<weft::future<long>> prices;
  prices.reserve(basket.size());
  for (const std::string& item : basket) prices.push_back(ex.submit(price_of, item));
  long sum = 0;
  for (auto price : weft::as_completed(std::move(prices))) sum += price.get();
  std::printf("%ld in all\n", sum);
}
