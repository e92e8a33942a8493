# A program in Rust from the distribution's crates, without network. Cargo works on a copy in the build tree, so that
# neither its lock file nor its output ever appears among the sources.

find_program(CARGO_PROGRAM cargo)
set(bench_crates "/usr/share/cargo/registry" CACHE PATH "Folder with the sources of packaged crates")

# Builds bin/<name> from the crate in <name>/, which is left out with a note where the packaged crate <name> is missing.
function(weft_bench_crate name)
  file(GLOB packaged "${bench_crates}/${name}-1*")
  if(NOT CARGO_PROGRAM OR NOT packaged)
    message(STATUS "bench: ${name} not found, left out")
    return()
  endif()
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${name}")
  set(copy "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  set(program "${CMAKE_CURRENT_BINARY_DIR}/bin/${name}")
  file(GLOB sources CONFIGURE_DEPENDS "${source}/Cargo.toml" "${source}/src/*.rs")
  file(CONFIGURE OUTPUT "${copy}/.cargo/config.toml" @ONLY CONTENT [[
[source.crates-io]
replace-with = "packaged"

[source.packaged]
directory = "@bench_crates@"
]])
  add_custom_command(
    OUTPUT "${program}"
    DEPENDS ${sources}
    COMMAND ${CMAKE_COMMAND} -E copy "${source}/Cargo.toml" "${copy}"
    COMMAND ${CMAKE_COMMAND} -E rm -rf "${copy}/src"
    COMMAND ${CMAKE_COMMAND} -E copy_directory "${source}/src" "${copy}/src"
    COMMAND ${CMAKE_COMMAND} -E chdir "${copy}"
      ${CARGO_PROGRAM} build --release --offline --quiet --target-dir "${copy}/target"
    COMMAND ${CMAKE_COMMAND} -E copy "${copy}/target/release/weft-bench-${name}" "${program}"
    COMMENT "Building the ${name} benchmarks"
    VERBATIM)
  add_custom_target(bench_${name} DEPENDS "${program}")
  add_dependencies(weft_bench bench_${name})
endfunction()
