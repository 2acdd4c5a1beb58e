# Attention through cuDNN: its headers come with the toolkit or from
# scripts/setup-cuda.sh --cudnn, the library is opened by a program that runs.
if(NOT WEFT_CUDNN_INCLUDE)
  return()
endif()
target_sources(WeftCudaKernels PRIVATE AttentionChoice.cpp AttentionCudnn.cpp AttentionGraphs.cpp Cudnn.cpp)
target_include_directories(WeftCudaKernels SYSTEM PRIVATE "${WEFT_CUDNN_INCLUDE}")
