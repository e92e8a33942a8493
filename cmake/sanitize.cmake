# A sanitizer must see every translation unit, so these flags are global and the presets set them.
if(WEFT_SANITIZE)
  add_compile_options(
    -fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g)
  add_link_options(-fsanitize=${WEFT_SANITIZE})
endif()
