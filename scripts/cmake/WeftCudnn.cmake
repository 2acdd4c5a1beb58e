# Where the headers of cuDNN are, for what opens the library by name, or
# WEFT_CUDNN_INCLUDE is false. They include those of the CUDA runtime beside them.
find_path(WEFT_CUDNN_INCLUDE cudnn_graph.h
  HINTS "$ENV{WEFT_CUDA_HOME}/include" "$ENV{CUDA_HOME}/include"
  PATHS /usr/local/cuda/include)
