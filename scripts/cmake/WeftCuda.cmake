# Where the CUDA toolkit is, for what is compiled with parts of it. Each variable
# is false where its part is not found, and a message says what is left out:
#
#   WEFT_NVCC, WEFT_PTXAS  the compiler and the assembler of hand-written
#                          kernels, of one toolkit
#   WEFT_CUDA_INCLUDE      folder of cuda.h: the runtime, the emulated driver
#   WEFT_CUBLASLT_INCLUDE  folder of cublasLt.h: products
#   WEFT_CUDNN_INCLUDE     folder of cudnn_graph.h, with headers of the CUDA
#                          runtime beside it: --attention=cudnn
#   WEFT_NCCL_INCLUDE      folder of nccl.h, with headers of the CUDA runtime
#                          beside it: the emulated NCCL
#   WEFT_NVTX_INCLUDE      folder of nvtx3/nvToolsExt.h: ranges for a profiler
#
# Libraries of the toolkit are not looked for: a program opens them when it runs.
set(folders "")
foreach(home "$ENV{WEFT_CUDA_HOME}" "$ENV{CUDA_HOME}")
  if(home)
    list(APPEND folders "${home}")
  endif()
endforeach()

find_program(WEFT_NVCC nvcc HINTS ${folders} PATHS /usr/local/cuda PATH_SUFFIXES bin)
if(WEFT_NVCC)
  # Through links: that on PATH may lie elsewhere.
  get_filename_component(nvcc "${WEFT_NVCC}" REALPATH)
  get_filename_component(bin "${nvcc}" DIRECTORY)
  get_filename_component(home "${bin}" DIRECTORY)
  list(APPEND folders "${home}")
  find_program(WEFT_PTXAS ptxas HINTS "${bin}" NO_DEFAULT_PATH)
endif()
find_path(WEFT_CUDA_INCLUDE cuda.h
  HINTS ${folders} PATHS /usr/local/cuda PATH_SUFFIXES include)
find_path(WEFT_CUBLASLT_INCLUDE cublasLt.h
  HINTS ${folders} PATHS /usr/local/cuda PATH_SUFFIXES include)
find_path(WEFT_CUDNN_INCLUDE cudnn_graph.h
  HINTS ${folders} PATHS /usr/local/cuda PATH_SUFFIXES include)
find_path(WEFT_NCCL_INCLUDE nccl.h
  HINTS ${folders} PATHS /usr/local/cuda PATH_SUFFIXES include)
find_path(WEFT_NVTX_INCLUDE nvtx3/nvToolsExt.h
  HINTS ${folders} PATHS /usr/local/cuda PATH_SUFFIXES include)

function(weft_say_missing variable file consequence)
  if(NOT ${variable})
    message(STATUS "${file} not found: ${consequence} (set WEFT_CUDA_HOME to the "
                   "folder of a CUDA toolkit, which scripts/setup-cuda.sh gets)")
  endif()
endfunction()
weft_say_missing(WEFT_NVCC nvcc "no hand-written kernels for CUDA devices")
if(WEFT_NVCC)
  weft_say_missing(WEFT_PTXAS "ptxas beside nvcc"
    "no hand-written kernels for CUDA devices")
endif()
weft_say_missing(WEFT_CUDA_INCLUDE cuda.h
  "no runtime for CUDA devices and no emulated device")
weft_say_missing(WEFT_CUBLASLT_INCLUDE cublasLt.h "no products for CUDA devices")
weft_say_missing(WEFT_CUDNN_INCLUDE cudnn_graph.h "no --attention=cudnn")
weft_say_missing(WEFT_NCCL_INCLUDE nccl.h
  "no ranks on several CUDA devices and no emulated NCCL")
weft_say_missing(WEFT_NVTX_INCLUDE nvtx3/nvToolsExt.h "no ranges for profilers")
