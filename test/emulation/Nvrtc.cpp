//===- Nvrtc.cpp - NVRTC of the emulated device ---------------------------===//
//
// cuDNN compiles its kernels with NVRTC, so the library must exist. The
// emulated cuDNN (CudnnEntry.cpp) compiles no kernels.
//
//===----------------------------------------------------------------------===//

extern "C" [[gnu::visibility("default")]] int nvrtcVersion(int *major,
                                                           int *minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
