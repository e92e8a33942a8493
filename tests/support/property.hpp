#pragma once

#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include <rapidcheck.h>

namespace weft::test {

// RapidCheck reads its seed from the environment when the first property is checked.
inline void fix_seed() {
  setenv("RC_PARAMS", "seed=4", 0);
  std::cout << "RC_PARAMS=\"" << std::getenv("RC_PARAMS") << '"' << std::endl;
}

// Whether a property holds for random arguments. The seed is the same in every run and printed;
// RC_PARAMS="seed=7 max_success=10000" in the environment asks for others.
template <class Property>
[[nodiscard]] bool holds(const std::string& description, Property&& property) {
  fix_seed();
  return rc::check(description, std::forward<Property>(property));
}

}  // namespace weft::test
