# What cmake --install brings for those who extend weft: headers, libraries and
# the CMake package of find_package(weft). It can be moved.
include(CMakePackageConfigHelpers)

set(package lib/cmake/weft)
install(DIRECTORY include/weft DESTINATION include
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
install(DIRECTORY "${CMAKE_BINARY_DIR}/include/weft" DESTINATION include
  FILES_MATCHING PATTERN "*.inc" PATTERN CMakeFiles EXCLUDE)
install(TARGETS WeftBase WeftFormats EXPORT weftTargets ARCHIVE DESTINATION lib/weft)
install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${package})

set(WEFT_INSTALL_INCLUDE include)
set(WEFT_INSTALL_BIN bin)
configure_package_config_file(
  scripts/cmake/weftConfig.cmake.in "${CMAKE_BINARY_DIR}/weftConfig.cmake"
  INSTALL_DESTINATION ${package}
  PATH_VARS WEFT_INSTALL_INCLUDE WEFT_INSTALL_BIN)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/weftConfigVersion.cmake"
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/weftConfig.cmake"
  "${CMAKE_BINARY_DIR}/weftConfigVersion.cmake" scripts/cmake/weftPlugin.cmake
  scripts/cmake/weftTablegen.cmake
  DESTINATION ${package})
