//===- PlansDriver.cpp - A CUDA driver that only loads modules ------------===//
//
// A libcuda.so.1 for CudnnPlans.cpp: cuDNN loads the kernels that it compiles
// when it plans, and here that is all that happens to them. cuda.h would
// declare the names with types that nobody needs.
//
//===----------------------------------------------------------------------===//

#define WEFT_EXPORT extern "C" __attribute__((visibility("default")))

static constexpr int kSuccess = 0, kNoDevice = 100;
static char loaded;

/// Entry points that cuDNN looks up and does not need for a plan.
#define WEFT_REFUSE(name)                                                      \
  WEFT_EXPORT int name() { return kNoDevice; }
WEFT_REFUSE(cuInit)
WEFT_REFUSE(cuCtxGetCurrent)
WEFT_REFUSE(cuCtxGetLimit)
WEFT_REFUSE(cuCtxPopCurrent)
WEFT_REFUSE(cuCtxPushCurrent)
WEFT_REFUSE(cuDeviceGet)
WEFT_REFUSE(cuDeviceGetCount)
WEFT_REFUSE(cuKernelGetAttribute)
WEFT_REFUSE(cuLaunchCooperativeKernel)
WEFT_REFUSE(cuLaunchKernel)
WEFT_REFUSE(cuLaunchKernelEx)
WEFT_REFUSE(cuLibraryLoadFromFile)
WEFT_REFUSE(cuLinkAddData)
WEFT_REFUSE(cuLinkComplete)
WEFT_REFUSE(cuLinkCreate)
WEFT_REFUSE(cuLinkDestroy)
WEFT_REFUSE(cuOccupancyMaxPotentialClusterSize)
WEFT_REFUSE(cuStreamGetCtx)

/// Those that give the handle of something loaded.
#define WEFT_LOAD(name)                                                        \
  WEFT_EXPORT int name(void **handle) {                                        \
    *handle = &loaded;                                                         \
    return kSuccess;                                                           \
  }
WEFT_LOAD(cuKernelGetFunction)
WEFT_LOAD(cuLibraryGetKernel)
WEFT_LOAD(cuLibraryLoadData)
WEFT_EXPORT int cuKernelSetAttribute() { return kSuccess; }
WEFT_EXPORT int cuLibraryUnload() { return kSuccess; }

WEFT_EXPORT int cuDriverGetVersion(int *version) {
  *version = 13000;
  return kSuccess;
}
WEFT_EXPORT int cuGetErrorName(int, const char **text) {
  *text = "error";
  return kSuccess;
}
WEFT_EXPORT int cuGetErrorString(int, const char **text) {
  *text = "error";
  return kSuccess;
}
