//===- CudaRegions.h - Commands that become one CUDA graph ------*- C++ -*-===//
//
// Splits programs into regions. A region is a list of consecutive commands on
// streams that compute or communicate; the device records it as one graph. The
// commands of a stream that copies between host and device stay outside, since
// their host memory differs from run to run.
//
// An event inside a region is an edge of the graph. An event that orders a
// command outside, or another run, is external: a node of the graph records it
// or waits for it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDAREGIONS_H
#define WEFT_RUNTIME_DEVICES_CUDAREGIONS_H

#include "weft/Abi/Executable.h"

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft {

/// The stream that a command is given to, from 0.
int64_t streamOf(const WeftCommand &command);

struct CudaRegion {
  int32_t begin, end; // commands of the program
  /// Whether a graph is worth recording: false for events and for copies.
  bool isRecorded;
  /// Streams of its commands other than 0, in order.
  std::vector<int64_t> sideStreams;
};

/// How a recording orders a command by its event; both may hold for a record.
struct CudaEventUse {
  bool isEdge = false, isExternal = false;
};

class CudaRegions {
public:
  CudaRegions() = default;
  explicit CudaRegions(const WeftExecutable &executable);

  /// The regions of a program of the executable. Together they are all of its
  /// commands, in order.
  const std::vector<CudaRegion> &of(const WeftProgram &program) const {
    return regions.at(program.commands);
  }
  /// Of a WEFT_RECORD or WEFT_WAIT of a recorded region.
  CudaEventUse useOf(const WeftCommand &command) const {
    return uses.at(&command);
  }

private:
  void findCopyStreams(const WeftExecutable &executable);
  bool isOutside(const WeftCommand &command) const;
  void split(const WeftProgram &program);
  void addRegion(const WeftProgram &program, CudaRegion region);
  void findUses(const WeftExecutable &executable);
  void findEdges(const WeftProgram &program, const CudaRegion &region);

  std::set<int64_t> copyStreams;
  /// By the first command of the program.
  std::unordered_map<const WeftCommand *, std::vector<CudaRegion>> regions;
  std::unordered_map<const WeftCommand *, CudaEventUse> uses;
  /// Events with a wait that no record of the same region precedes.
  std::set<int64_t> awaitedOutside;
};

//===- Ranges for profilers -----------------------------------------------===//

// Nested NVTX ranges of the domain "weft": a run of a program, and in it the
// scopes of commands while they are launched. They need a tool that sets
// NVTX_INJECTION64_PATH to its library, as NVIDIA's tools do; without one
// nothing is done. A build without the headers of NVTX makes no ranges.

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

#endif // WEFT_RUNTIME_DEVICES_CUDAREGIONS_H
