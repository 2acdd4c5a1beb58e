# weft_tablegen(TARGET file.td -gen-x out.inc ...)  (pairs) runs mlir-tblgen with
#     the include folders of weft, MLIR and the current source folder. The
#     headers appear in the current binary folder.
# weft_add_plugin(NAME sources... [DEPENDS targets...])  a module NAME.so for
#     --load-pass-plugin and --load-dialect-plugin; DEPENDS names TableGen
#     targets. The tool that loads it has weft's symbols, so it links MLIR alone.

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

function(weft_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(TABLEGEN_OUTPUT)
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest gen out)
    separate_arguments(gen)
    mlir_tablegen(${out} ${gen} "-I${CMAKE_CURRENT_SOURCE_DIR}"
      "-I${WEFT_INCLUDE_DIRS}" "-I${MLIR_INCLUDE_DIRS}")
  endwhile()
  add_custom_target(${target} DEPENDS ${TABLEGEN_OUTPUT})
endfunction()

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
