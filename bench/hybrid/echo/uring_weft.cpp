#include <system_error>

#include "weft.hpp"

int main(int argc, char** argv) {
  try {
    hybrid_echo::measure_weft<hybrid_echo::weft_socket>(bench::parse(argc, argv),
                                                        weft::io_engine::io_uring);
  } catch (const std::system_error& e) {
    bench::skip(e.what());
  }
}
