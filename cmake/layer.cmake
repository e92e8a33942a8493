# weft_add_layer(<name> [DEPENDS <layer>...] [PACKAGES <package>...] [LINKS <target>...]
#                [SOURCES <file>...])
#
# One layer is one target, weft_<name>, used everywhere as weft::<name>. Without SOURCES the layer
# is headers only. Its public headers are include/weft/<name>/.
#   DEPENDS   layers below this one; users of this layer get them too
#   PACKAGES  CMake packages that users of the installed layer need as well
#   LINKS     targets of those packages
function(weft_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "DEPENDS;PACKAGES;LINKS;SOURCES")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weft_add_layer(${name}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()

  set(target weft_${name})
  if(ARG_SOURCES)
    set(scope PUBLIC)
    add_library(${target} ${ARG_SOURCES})
    # Before 1.0 every minor version may break the ABI. The layers are installed side by side, and a
    # shared one finds those below it there: the search path of a program covers only its own needs.
    set_target_properties(
      ${target} PROPERTIES VERSION ${PROJECT_VERSION}
                           SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                           INSTALL_RPATH "$ORIGIN"
                           CXX_EXTENSIONS OFF)
    # Private headers are included as "core/sleep.hpp".
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    weft_set_warnings(${target})
    set_property(GLOBAL APPEND PROPERTY WEFT_LIBRARIES ${target})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(weft::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(
    ${target} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                       $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  foreach(package IN LISTS ARG_PACKAGES)
    find_package(${package} REQUIRED)
  endforeach()
  list(TRANSFORM ARG_DEPENDS PREPEND weft:: OUTPUT_VARIABLE below)
  target_link_libraries(${target} ${scope} ${below} ${ARG_LINKS})

  set_property(GLOBAL APPEND PROPERTY WEFT_LAYERS ${name})
  set_property(GLOBAL PROPERTY WEFT_${name}_DEPENDS "${ARG_DEPENDS}")
  set_property(GLOBAL PROPERTY WEFT_${name}_PACKAGES "${ARG_PACKAGES}")
endfunction()

# weft::weft is every layer at once: what <weft/weft.hpp> needs.
function(weft_add_umbrella)
  get_property(layers GLOBAL PROPERTY WEFT_LAYERS)
  weft_add_layer(weft DEPENDS ${layers})
endfunction()
