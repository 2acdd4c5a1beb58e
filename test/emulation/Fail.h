//===- Fail.h - Errors of the emulated device -------------------*- C++ -*-===//

#ifndef WEFT_TEST_EMULATION_FAIL_H
#define WEFT_TEST_EMULATION_FAIL_H

#include <string>

namespace weft::emulation {

constexpr int kFailureExit = 99;

/// The kernel that runs now, for messages; empty between kernels.
void setKernelName(std::string name);
const std::string &kernelName();

/// Prints `emulation: error: kernel NAME: MESSAGE` and ends the process with
/// exit code 99: on a device, the behaviour would be undefined.
[[noreturn]] void fail(const std::string &message);

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_FAIL_H
