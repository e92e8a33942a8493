// Asio's sockets, awaited in Weft's tasks.

#include "../../support/weft_io.hpp"
#include "weft.hpp"

int main(int argc, char** argv) {
  hybrid_echo::measure_weft<bench::weft_stream>(bench::parse(argc, argv), weft::io_engine::epoll);
}
