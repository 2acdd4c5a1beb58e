//===- Nvrtc.cpp - NVRTC of the emulated device ---------------------------===//
//
// What cuDNN compiles its kernels with has to be there: that of the emulated
// device (Cudnn.cpp) compiles none.
//
//===----------------------------------------------------------------------===//

extern "C" [[gnu::visibility("default")]] int nvrtcVersion(int *major,
                                                           int *minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
