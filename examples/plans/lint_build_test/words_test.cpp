#include "words.hpp"

#include <iostream>
#include <sstream>

namespace {

bool counts(const char* text, std::size_t expected) {
  std::istringstream in(text);
  const std::size_t found = count_words(in);
  if (found == expected) return true;
  std::cerr << '"' << text << "\": " << found << " words, expected " << expected << '\n';
  return false;
}

}  // namespace

int main() {
  const bool passed =
      counts("", 0) && counts("one", 1) && counts(" two\twords\n", 2) && counts("a b  c", 3);
  return passed ? 0 : 1;
}
