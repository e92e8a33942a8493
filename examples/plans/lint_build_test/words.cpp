#include "words.hpp"

#include <string>

std::size_t count_words(std::istream& in) {
  std::size_t count = 0;
  for (std::string word; in >> word;) ++count;
  return count;
}
