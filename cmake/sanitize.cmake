# A sanitizer must see every translation unit, so these flags are global and the presets set them.
if(WEFT_SANITIZE)
  # Clang builds a test in less than half the time without optimising it.
  set(optimise -O1)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set(optimise -O0)
  endif()
  # -g1: reports need names and lines, and building takes a third less.
  add_compile_options(
    -fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer ${optimise} -g1)
  add_link_options(-fsanitize=${WEFT_SANITIZE})
endif()
