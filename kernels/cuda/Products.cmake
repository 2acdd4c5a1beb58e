# Products through cuBLASLt: its header comes with the toolkit, the library is
# opened by a program that runs.
if(NOT WEFT_CUBLASLT_INCLUDE)
  return()
endif()
set(products BlasLt.cpp CublasLtGemm.cpp CublasLtPlan.cpp GemmTuning.cpp TuneProducts.cpp TuningCache.cpp)
if(TARGET WeftCudaKernels)
  target_sources(WeftCudaKernels PRIVATE ${products})
else()
  weft_library(WeftCudaKernels ${products} LINK WeftRuntimeCore)
endif()
target_include_directories(WeftCudaKernels PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/..")
target_include_directories(WeftCudaKernels SYSTEM PRIVATE "${WEFT_CUBLASLT_INCLUDE}")
