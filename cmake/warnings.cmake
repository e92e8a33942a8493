# Warnings are for those who work on Weft. They are never part of a target's interface.
function(weft_set_warnings target)
  if(WEFT_DEV)
    target_compile_options(
      ${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
    # GCC 12 sees an overlap that is not there in "literal" + std::string (GCC bug 105651).
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      target_compile_options(${target} PRIVATE -Wno-restrict)
    endif()
    # The library of GCC 12 marks as deprecated what its own stable_sort calls, and Clang says so.
    # Without this macro it marks nothing; what we use that is deprecated g++ still tells.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      target_compile_options(${target} PRIVATE -U__DEPRECATED)
    endif()
  endif()
endfunction()
