# For weft's own build and, installed, for plug-ins:
#
# weft_tablegen(TARGET file.td -gen-x out.inc ...)  (pairs) runs mlir-tblgen with
#     the include folders of weft (WEFT_INCLUDE_DIRS), MLIR and the current
#     source folder. The headers appear in the current binary folder. In weft's
#     own build the target weft_headers depends on TARGET.

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
  if(TARGET weft_headers)
    add_dependencies(weft_headers ${target})
  endif()
endfunction()
