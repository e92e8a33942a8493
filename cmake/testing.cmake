find_package(GTest REQUIRED)

# Sanitizers slow a test down; its limit is written for a plain build.
set(WEFT_TIMEOUT_FACTOR 1)
if(WEFT_SANITIZE)
  set(WEFT_TIMEOUT_FACTOR 5)
endif()

# Clang links an operator new into programs under its thread sanitizer that they cannot replace: the
# tests that do are left out there.
set(WEFT_TESTS_MAY_REPLACE_NEW ON)
if(WEFT_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(WEFT_TESTS_MAY_REPLACE_NEW OFF)
endif()

# weft_add_test(NAME <x_test> LAYER <layer> SOURCES <file>... [LABELS <label>...]
#               [TIMEOUT <seconds>] [RUN_SERIAL])
#
# One GoogleTest executable and one ctest entry, labelled with the layer and with LABELS. The test
# sees the private headers of src/. TIMEOUT is 60 unless given; RUN_SERIAL is for tests that need
# the machine for themselves.
function(weft_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "RUN_SERIAL" "NAME;LAYER;TIMEOUT" "SOURCES;LABELS")
  weft_require_arguments(weft_add_test NAME LAYER SOURCES)
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  set_target_properties(${ARG_NAME} PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(${ARG_NAME} PRIVATE "${PROJECT_SOURCE_DIR}/src"
                                                 "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${ARG_NAME} PRIVATE weft::${ARG_LAYER} GTest::gtest_main GTest::gmock)
  weft_set_warnings(${ARG_NAME})

  add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME})
  weft_set_test_properties(${ARG_NAME} LABELS ${ARG_LAYER} ${ARG_LABELS} TIMEOUT "${ARG_TIMEOUT}")
  set_tests_properties(${ARG_NAME} PROPERTIES RUN_SERIAL ${ARG_RUN_SERIAL})
endfunction()

# weft_add_model(NAME <x_model> SOURCES <file>... [ARGS <arg>...] [LABELS <label>...]
#                [TIMEOUT <seconds>])
#
# A Relacy model. It includes the production sources itself, compiled for the model checker, so it
# links with no Weft library. tools/mutants compiles with the same flags. The model checker switches
# stacks by hand, which sanitizers do not follow, so their builds have no models.
function(weft_add_model)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;TIMEOUT" "SOURCES;ARGS;LABELS")
  weft_require_arguments(weft_add_model NAME SOURCES)
  if(WEFT_SANITIZE)
    return()
  endif()
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  set_target_properties(${ARG_NAME} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_features(${ARG_NAME} PRIVATE cxx_std_20)
  target_compile_definitions(${ARG_NAME} PRIVATE WEFT_MODEL_CHECK)
  target_compile_options(${ARG_NAME} PRIVATE -O2 -w)
  target_include_directories(
    ${ARG_NAME} PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src"
                        "${PROJECT_SOURCE_DIR}/tests/model")

  add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME} ${ARG_ARGS})
  weft_set_test_properties(${ARG_NAME} LABELS model ${ARG_LABELS} TIMEOUT "${ARG_TIMEOUT}")
endfunction()

# weft_add_script_test(NAME <name> COMMAND <command>... LABELS <label>... [TIMEOUT <seconds>])
#
# A test that is a script and starts builds of its own: it gets both cores to itself. Sanitizer
# builds leave it out, because it does not run what they have built.
function(weft_add_script_test)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;TIMEOUT" "COMMAND;LABELS")
  weft_require_arguments(weft_add_script_test NAME COMMAND LABELS)
  if(WEFT_SANITIZE)
    return()
  endif()
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_COMMAND})
  weft_set_test_properties(${ARG_NAME} LABELS ${ARG_LABELS} TIMEOUT "${ARG_TIMEOUT}")
  set_tests_properties(${ARG_NAME} PROPERTIES RUN_SERIAL ON)
endfunction()

# weft_add_compile_fail_tests(LAYER <layer> DIRECTORY <directory>)
#
# One ctest entry, compile_fail_<name>, for each source in a directory: it must not compile, and the
# compiler must say why. tests/support/compile_fail.py tells how a source says what it expects.
function(weft_add_compile_fail_tests)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "LAYER;DIRECTORY" "")
  weft_require_arguments(weft_add_compile_fail_tests LAYER DIRECTORY)
  if(WEFT_SANITIZE)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${ARG_DIRECTORY}/*.cpp")
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    add_test(NAME compile_fail_${name}
             COMMAND "${PROJECT_SOURCE_DIR}/tests/support/compile_fail.py" "${source}"
                     "${CMAKE_CXX_COMPILER}" -std=c++20 "-I${PROJECT_SOURCE_DIR}/include")
    weft_set_test_properties(compile_fail_${name} LABELS ${ARG_LAYER})
  endforeach()
endfunction()

# Builds one translation unit per public header that includes nothing else.
function(weft_check_headers_compile_alone)
  if(WEFT_SANITIZE)
    return()
  endif()
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include"
       "${PROJECT_SOURCE_DIR}/include/weft/*.hpp")
  set(sources "")
  foreach(header IN LISTS headers)
    set(source "${PROJECT_BINARY_DIR}/headers_compile_alone/${header}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include <${header}>\n")
    list(APPEND sources "${source}")
  endforeach()
  add_library(headers_compile_alone OBJECT ${sources})
  target_link_libraries(headers_compile_alone PRIVATE weft::weft)
  set_target_properties(headers_compile_alone PROPERTIES CXX_EXTENSIONS OFF)
  weft_set_warnings(headers_compile_alone)
endfunction()

function(weft_set_test_properties test)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "TIMEOUT" "LABELS")
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  math(EXPR timeout "${ARG_TIMEOUT} * ${WEFT_TIMEOUT_FACTOR}")
  # An empty WEFT_WORKERS would be an error, so it is unset: a test decides its worker count itself.
  set_tests_properties(
    ${test} PROPERTIES TIMEOUT ${timeout} LABELS "${ARG_LABELS}" ENVIRONMENT_MODIFICATION
                       "WEFT_WORKERS=unset:")
endfunction()

# Reads the ARG_ variables of its caller.
macro(weft_require_arguments function)
  foreach(required IN ITEMS ${ARGN})
    if(NOT ARG_${required})
      message(FATAL_ERROR "${function}(${ARG_NAME}): ${required} is missing")
    endif()
  endforeach()
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function}(${ARG_NAME}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
endmacro()
