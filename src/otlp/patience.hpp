#pragma once

#include <chrono>
#include <functional>

namespace weft::otlp {

// How long somebody waits for something.
struct patience {
  using clock = std::chrono::steady_clock;
  clock::time_point end;  // gives up then
  // Asks again then, if that is before: whoever is asked may use it to do something else meanwhile.
  clock::time_point next = clock::time_point::max();
};

// Asked before every wait, and anew after a wake-up and at `next`. Must not throw.
using patience_of = std::function<patience()>;

}  // namespace weft::otlp
