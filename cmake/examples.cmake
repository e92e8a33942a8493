# weft_add_example(<name> [LAYER <layer>] [TIMEOUT <seconds>] [ARGS <arg>...])
#
# Builds <name>.cpp and tests that it prints exactly what <name>.expected says. LAYER is weft (every
# layer) unless given. ARGS are for the test: an example that measures something has a --check that
# leaves out what varies.
function(weft_add_example name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "LAYER;TIMEOUT" "ARGS")
  if(NOT ARG_LAYER)
    set(ARG_LAYER weft)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  add_executable(${name} ${name}.cpp)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(${name} PRIVATE weft::${ARG_LAYER})
  weft_set_warnings(${name})

  if(WEFT_BUILD_TESTS)
    add_test(NAME example_${name}
             COMMAND "${CMAKE_COMMAND}" -DPROGRAM=$<TARGET_FILE:${name}> "-DARGS=${ARG_ARGS}"
                     -DEXPECTED=${CMAKE_CURRENT_SOURCE_DIR}/${name}.expected -P
                     "${PROJECT_SOURCE_DIR}/cmake/run_example.cmake")
    set_tests_properties(
      example_${name} PROPERTIES LABELS example TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT_MODIFICATION
                                 "WEFT_WORKERS=unset:")
  endif()
endfunction()
