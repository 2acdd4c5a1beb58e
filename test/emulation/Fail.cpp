//===- Fail.cpp - Errors of the emulated device ---------------------------===//

#include "Fail.h"

#include <cstdio>
#include <unistd.h>

namespace weft::emulation {

// Never destroyed: a program may fail in the middle of its end.
static std::string &runningKernel() {
  static auto *name = new std::string;
  return *name;
}

const std::string &kernelName() { return runningKernel(); }
void setKernelName(std::string name) { runningKernel() = std::move(name); }

void fail(const std::string &message) {
  std::fflush(nullptr);
  const std::string &kernel = kernelName();
  std::fprintf(stderr, "emulation: error: %s%s%s%s\n",
               kernel.empty() ? "" : "kernel ", kernel.c_str(),
               kernel.empty() ? "" : ": ", message.c_str());
  std::fflush(nullptr);
  _exit(kFailureExit);
}

} // namespace weft::emulation
