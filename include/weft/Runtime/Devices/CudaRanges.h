//===- CudaRanges.h - Ranges for a profiler ---------------------*- C++ -*-===//
//
// Nested NVTX ranges of the domain "weft": a run of a program, and in it the
// scopes of commands while they are launched. They need a tool that sets
// NVTX_INJECTION64_PATH to its library, as NVIDIA's tools do; without one
// nothing is done. A build without the headers of NVTX makes no ranges.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDARANGES_H
#define WEFT_RUNTIME_DEVICES_CUDARANGES_H

#include <string>
#include <vector>

namespace weft {

class CudaRanges {
public:
  CudaRanges();
  ~CudaRanges();
  CudaRanges(const CudaRanges &) = delete;
  CudaRanges &operator=(const CudaRanges &) = delete;

  /// A run of the program begins.
  void enter(const char *program);
  /// The following commands have this scope, which may be empty or null:
  /// "h.3.attn" is the range "h.3.attn" in "h.3" in "h".
  void moveTo(const char *scope);
  /// The run has been submitted to the device, or has failed.
  void leave();

private:
  void push(const std::string &text);
  void pop();

  void *domain = nullptr;          // null: no tool takes ranges
  std::vector<std::string> scopes; // that are open, the outer ones first
};

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_CUDARANGES_H
