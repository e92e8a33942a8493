# A sanitizer must see every translation unit, so these flags are global and the presets set them.
if(WEFT_SANITIZE)
  # -g1: reports need names and lines, and building takes a third less.
  add_compile_options(
    -fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1)
  add_link_options(-fsanitize=${WEFT_SANITIZE})
endif()
