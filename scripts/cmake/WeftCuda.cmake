# Where the CUDA toolkit is, for what is compiled with it: WEFT_NVCC, or that
# variable is false. Nothing else needs it.
find_program(WEFT_NVCC nvcc
  HINTS "$ENV{WEFT_CUDA_HOME}/bin" "$ENV{CUDA_HOME}/bin"
  PATHS /usr/local/cuda/bin)
