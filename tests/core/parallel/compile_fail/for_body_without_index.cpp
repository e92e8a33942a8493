// expect: loop_body
// expect: body_takes_an_index_or_first_and_last
#include <weft/core/parallel/for.hpp>

void loop() {
#ifdef CORRECTED
  weft::parallel_for(0, 10, [](int) {});
#else
  weft::parallel_for(0, 10, [] {});
#endif
}
