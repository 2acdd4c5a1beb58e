# weft_tablegen()   see weftTablegen.cmake
# weft_add_plugin(NAME sources... [DEPENDS targets...])  a module NAME.so for
#     --load-pass-plugin and --load-dialect-plugin; DEPENDS names TableGen
#     targets. The tool that loads it has weft's symbols, so it links MLIR alone.

include("${CMAKE_CURRENT_LIST_DIR}/weftTablegen.cmake")

function(weft_add_plugin name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_library(${name} MODULE ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_EXTENSIONS OFF
    BUILD_RPATH "${LLVM_LIBRARY_DIRS}" INSTALL_RPATH "${LLVM_LIBRARY_DIRS}")
  target_include_directories(${name} PRIVATE
    "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_BINARY_DIR}")
  target_link_libraries(${name} PRIVATE weft::headers MLIR)
  if(NOT LLVM_ENABLE_RTTI)
    target_compile_options(${name} PRIVATE -fno-rtti)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()
