#include "weft.hpp"

int main(int argc, char** argv) {
  hybrid_echo::measure_weft<hybrid_echo::weft_socket>(bench::parse(argc, argv),
                                                      weft::io_engine::epoll);
}
