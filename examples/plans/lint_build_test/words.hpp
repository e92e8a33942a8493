#pragma once

#include <cstddef>
#include <istream>

// How many words there are, with blanks between them.
std::size_t count_words(std::istream& in);
