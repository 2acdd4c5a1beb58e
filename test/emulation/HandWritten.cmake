# The kernels of kernels/cuda, compiled for this machine (DeviceHost.h). A plugin of
# the compiler makes them say each access, so the compiler is clang of our LLVM.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang"
   OR NOT CMAKE_CXX_COMPILER_VERSION MATCHES "^${LLVM_VERSION_MAJOR}\\.")
  message(STATUS "Tests of hand-written CUDA kernels are left out: they need "
                 "clang ${LLVM_VERSION_MAJOR}, and the compiler is "
                 "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  return()
endif()

# clang has no sanitizer of ours, and the symbols of LLVM.
add_library(WeftTellAccesses MODULE EXCLUDE_FROM_ALL
  TellAccessesPlugin.cpp TellAccesses.cpp)
target_include_directories(WeftTellAccesses SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(WeftTellAccesses PRIVATE ${WEFT_COMPILER_DEFINITIONS})
target_compile_options(WeftTellAccesses PRIVATE
  ${WEFT_COMPILER_OPTIONS} -fno-rtti -fno-sanitize=all)
target_link_options(WeftTellAccesses PRIVATE -fno-sanitize=all)
set_target_properties(WeftTellAccesses PROPERTIES
  PREFIX "" LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/test/emulation")

add_library(WeftCudaTwins OBJECT EXCLUDE_FROM_ALL ${WEFT_CUDA_SOURCES})
target_link_libraries(WeftCudaTwins PRIVATE WeftEmulation)
# Vectors of this machine would make other accesses than a device. The cache of
# compilations does not know what a plugin does.
target_compile_options(WeftCudaTwins PRIVATE
  -march=x86-64-v3 -fno-vectorize -fno-slp-vectorize -fno-sanitize=all
  "-fpass-plugin=$<TARGET_FILE:WeftTellAccesses>")
set_source_files_properties(${WEFT_CUDA_SOURCES} PROPERTIES
  LANGUAGE CXX OBJECT_DEPENDS "${CMAKE_BINARY_DIR}/test/emulation/WeftTellAccesses.so")
set_target_properties(WeftCudaTwins PROPERTIES CXX_COMPILER_LAUNCHER "")
add_dependencies(WeftCudaTwins WeftTellAccesses)
