# Rayon from the distribution's crates, without network. Cargo works on a copy in the build tree, so that neither its
# lock file nor its output ever appears among the sources.

find_program(CARGO_PROGRAM cargo)
set(bench_crates "/usr/share/cargo/registry" CACHE PATH "Folder with the sources of packaged crates")
file(GLOB bench_rayon_crate "${bench_crates}/rayon-1*")

if(NOT CARGO_PROGRAM OR NOT bench_rayon_crate)
  message(STATUS "bench: rayon not found, left out")
  return()
endif()

set(bench_rayon_dir "${CMAKE_CURRENT_BINARY_DIR}/rayon")
file(GLOB bench_rayon_sources CONFIGURE_DEPENDS
  "${CMAKE_CURRENT_SOURCE_DIR}/rayon/Cargo.toml" "${CMAKE_CURRENT_SOURCE_DIR}/rayon/src/*.rs")
set(bench_rayon_program "${CMAKE_CURRENT_BINARY_DIR}/bin/rayon")
file(CONFIGURE OUTPUT "${bench_rayon_dir}/.cargo/config.toml" @ONLY CONTENT [[
[source.crates-io]
replace-with = "packaged"

[source.packaged]
directory = "@bench_crates@"
]])

add_custom_command(
  OUTPUT "${bench_rayon_program}"
  DEPENDS ${bench_rayon_sources}
  COMMAND ${CMAKE_COMMAND} -E copy "${CMAKE_CURRENT_SOURCE_DIR}/rayon/Cargo.toml" "${bench_rayon_dir}"
  COMMAND ${CMAKE_COMMAND} -E rm -rf "${bench_rayon_dir}/src"
  COMMAND ${CMAKE_COMMAND} -E copy_directory "${CMAKE_CURRENT_SOURCE_DIR}/rayon/src" "${bench_rayon_dir}/src"
  COMMAND ${CMAKE_COMMAND} -E chdir "${bench_rayon_dir}"
    ${CARGO_PROGRAM} build --release --offline --quiet --target-dir "${bench_rayon_dir}/target"
  COMMAND ${CMAKE_COMMAND} -E copy "${bench_rayon_dir}/target/release/weft-bench-rayon" "${bench_rayon_program}"
  COMMENT "Building the Rayon benchmarks"
  VERBATIM)
add_custom_target(bench_rayon DEPENDS "${bench_rayon_program}")
add_dependencies(weft_bench bench_rayon)
