#include "config.hpp"

int main(int argc, char** argv) {
  return trace_tasks::measure(argc, argv, trace_tasks::traced::absent);
}
