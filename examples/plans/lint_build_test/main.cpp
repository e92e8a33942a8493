#include <iostream>

#include "words.hpp"

int main() { std::cout << count_words(std::cin) << '\n'; }
