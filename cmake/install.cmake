# The installed package: headers, libraries, one export file per layer, weftConfig.cmake, weft.pc.
include(CMakePackageConfigHelpers)

set(weft_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
get_property(weft_layers GLOBAL PROPERTY WEFT_LAYERS)

set(WEFT_LAYER_TABLE "")
foreach(layer IN LISTS weft_layers)
  # One export file per layer, so that asking for core never needs the packages of the others.
  install(TARGETS weft_${layer} EXPORT weft_${layer}_targets)
  install(
    EXPORT weft_${layer}_targets
    NAMESPACE weft::
    FILE weft_${layer}_targets.cmake
    DESTINATION ${weft_cmake_dir})
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/include/weft/${layer}")
    install(
      DIRECTORY "${PROJECT_SOURCE_DIR}/include/weft/${layer}"
      DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft
      FILES_MATCHING
      PATTERN "*.hpp")
  endif()
  get_property(depends GLOBAL PROPERTY WEFT_${layer}_DEPENDS)
  get_property(packages GLOBAL PROPERTY WEFT_${layer}_PACKAGES)
  string(APPEND WEFT_LAYER_TABLE "set(_weft_depends_${layer} \"${depends}\")\n"
                                 "set(_weft_packages_${layer} \"${packages}\")\n")
endforeach()
set(WEFT_LAYERS "${weft_layers}")

file(GLOB weft_top_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/weft/*.hpp")
install(FILES ${weft_top_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)

configure_package_config_file(
  cmake/weftConfig.cmake.in "${PROJECT_BINARY_DIR}/weftConfig.cmake"
  INSTALL_DESTINATION ${weft_cmake_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/weftConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/weftConfig.cmake"
              "${PROJECT_BINARY_DIR}/weftConfigVersion.cmake" DESTINATION ${weft_cmake_dir})

# A static link needs a library before the ones it depends on: the highest layer comes first. Layers
# that need libraries which others do not have files of their own.
get_property(weft_libraries GLOBAL PROPERTY WEFT_LIBRARIES)
list(REMOVE_ITEM weft_libraries weft_batch weft_flow weft_io weft_metrics weft_otlp)
list(REVERSE weft_libraries)
list(TRANSFORM weft_libraries PREPEND "-l")
list(JOIN weft_libraries " " WEFT_PC_LIBS)
get_property(weft_libraries_below GLOBAL PROPERTY WEFT_PC_LIBS_BELOW)
string(APPEND WEFT_PC_LIBS "${weft_libraries_below}")
file(RELATIVE_PATH WEFT_PC_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig"
     "${CMAKE_INSTALL_PREFIX}")
configure_file(cmake/weft.pc.in "${PROJECT_BINARY_DIR}/weft.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/weft.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# Metrics know what else was built.
set(WEFT_METRICS_PC_REQUIRES "weft = ${PROJECT_VERSION}")
foreach(layer IN ITEMS batch io)
  if(TARGET weft_${layer})
    string(APPEND WEFT_METRICS_PC_REQUIRES ", weft-${layer} = ${PROJECT_VERSION}")
  endif()
endforeach()
foreach(layer IN ITEMS batch flow io metrics otlp)
  if(TARGET weft_${layer})
    configure_file(cmake/weft-${layer}.pc.in "${PROJECT_BINARY_DIR}/weft-${layer}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/weft-${layer}.pc"
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endif()
endforeach()
