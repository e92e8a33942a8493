# weft_embed(<target> <constant> HEADER <header> FILES <file>...)
#
# Compiles files into a target as text. <constant> is the qualified name of a
# std::span<const embedded_file> that <header> declares; the files keep the order in which they are
# given. When one of them changes, it is embedded again.
#
# This file is also the script that the build runs, with -P: then it writes OUTPUT.

# What every C++ compiler must accept as one string literal is 65536 characters.
set(WEFT_EMBED_BYTES_MAX 60000)

function(weft_embed target constant)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "HEADER" "FILES")
  string(REGEX REPLACE ".*::" "" name "${constant}")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  list(TRANSFORM ARG_FILES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  list(JOIN ARG_FILES "|" joined)
  set(script "${CMAKE_CURRENT_FUNCTION_LIST_FILE}")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DCONSTANT=${constant}"
            "-DHEADER=${ARG_HEADER}" "-DFILES=${joined}" -P "${script}"
    DEPENDS ${ARG_FILES} "${script}"
    COMMENT "Embedding ${name}"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()

function(weft_write_embedded)
  string(REGEX REPLACE "::[^:]*$" "" namespace "${CONSTANT}")
  string(REGEX REPLACE ".*::" "" name "${CONSTANT}")
  string(REPLACE "|" ";" files "${FILES}")
  set(entries "")
  foreach(file IN LISTS files)
    file(READ "${file}" text)
    string(LENGTH "${text}" length)
    if(length GREATER WEFT_EMBED_BYTES_MAX)
      message(FATAL_ERROR "${file}: ${length} bytes are more than the ${WEFT_EMBED_BYTES_MAX} that "
                          "can be embedded as one text; divide the file")
    endif()
    string(FIND "${text}" ")weft\"" end)
    if(NOT end EQUAL -1)
      message(FATAL_ERROR "${file}: contains )weft\", which ends the text in C++")
    endif()
    get_filename_component(base "${file}" NAME)
    string(APPEND entries "    {.name = \"${base}\", .text = R\"weft(${text})weft\"},\n")
  endforeach()
  file(WRITE "${OUTPUT}" "// Written by cmake/embed.cmake.\n"
                         "#include \"${HEADER}\"\n\n"
                         "namespace ${namespace} {\n"
                         "namespace {\n\n"
                         "constexpr embedded_file files[] = {\n${entries}};\n\n"
                         "}  // namespace\n\n"
                         "const std::span<const embedded_file> ${name} = files;\n\n"
                         "}  // namespace ${namespace}\n")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  weft_write_embedded()
endif()
