# Before project(): a build folder keeps the compiler that it was made with. CMake
# would empty the cache for another one and configure again without the options of
# the command line, WEFT_CUDA_CHIPS among them.
function(weft_keep_compiler language)
  if(NOT CMAKE_${language}_COMPILER)
    return()
  endif()
  file(GLOB known "${CMAKE_BINARY_DIR}/CMakeFiles/*/CMake${language}Compiler.cmake")
  if(NOT known)
    return()
  endif()
  list(GET known 0 known)
  file(STRINGS "${known}" old REGEX "^set\\(CMAKE_${language}_COMPILER \"")
  string(REGEX REPLACE ".*_COMPILER \"(.*)\"\\)" "\\1" old "${old}")
  find_program(WEFT_NEW_COMPILER "${CMAKE_${language}_COMPILER}" NO_CACHE)
  # One compiler has several links, and PATH may have changed. CMake compares
  # their paths, so the folder keeps the one that it was made with.
  get_filename_component(same "${old}" REALPATH)
  get_filename_component(new "${WEFT_NEW_COMPILER}" REALPATH)
  if(NOT "${same}" STREQUAL "${new}")
    message(FATAL_ERROR "expects the compiler that ${CMAKE_BINARY_DIR} was made with, "
                        "${old}, but got ${CMAKE_${language}_COMPILER}: remove the folder, "
                        "or choose another one")
  endif()
  set(CMAKE_${language}_COMPILER "${old}" CACHE FILEPATH "" FORCE)
endfunction()
weft_keep_compiler(C)
weft_keep_compiler(CXX)
