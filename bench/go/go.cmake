# Go has all it needs in its own library; its cache stays in the build tree.

find_program(GO_PROGRAM go)
if(NOT GO_PROGRAM)
  message(STATUS "bench: go not found, left out")
  return()
endif()

set(bench_go_program "${CMAKE_CURRENT_BINARY_DIR}/bin/go")
file(GLOB bench_go_sources CONFIGURE_DEPENDS
  "${CMAKE_CURRENT_SOURCE_DIR}/go/go.mod" "${CMAKE_CURRENT_SOURCE_DIR}/go/*.go")
add_custom_command(
  OUTPUT "${bench_go_program}"
  DEPENDS ${bench_go_sources}
  COMMAND ${CMAKE_COMMAND} -E chdir "${CMAKE_CURRENT_SOURCE_DIR}/go"
    ${CMAKE_COMMAND} -E env "GOCACHE=${CMAKE_CURRENT_BINARY_DIR}/go-cache" GOFLAGS=-buildvcs=false CGO_ENABLED=0
    GOPROXY=off ${GO_PROGRAM} build -o "${bench_go_program}" .
  COMMENT "Building the Go benchmarks"
  VERBATIM)
add_custom_target(bench_go DEPENDS "${bench_go_program}")
add_dependencies(weft_bench bench_go)
