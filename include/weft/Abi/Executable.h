//===- Executable.h - Tables of a compiled program --------------*- C++ -*-===//
//
// The one interface between generated code and the runtime: constant tables in
// read-only data. The compiler (Lowering/Table) emits them packed
// (PackedTables.h), the runtime unpacks them into the structs that the executor
// runs, and `weft inspect` reads the metadata from the ELF section
// `.weft.meta`.
//
// Plain C layout, no MLIR, no LLVM. Every address is an offset into one arena,
// which the runtime allocates once with `WeftExecutable::arenaBytes`.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_EXECUTABLE_H
#define WEFT_ABI_EXECUTABLE_H

#include "weft/Abi/Records.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_ABI_VERSION 12

/// Element types. The numbers are part of the ABI.
enum WeftDType {
  WEFT_F32 = 0,
  WEFT_F64 = 1,
  WEFT_F16 = 2,
  WEFT_BF16 = 3,
  WEFT_I1 = 4, // one byte per element, 0 or 1
  WEFT_I32 = 5,
  WEFT_I64 = 6
};

/// A generated kernel. `buffers` are resolved addresses in operand order
/// (inputs, then outputs); the kernel computes the part [begin, end) of its
/// range. Parts write disjoint bytes and an element's bits do not depend on
/// how the range is cut.
typedef void (*WeftKernelFn)(void *const *buffers, int64_t begin, int64_t end);

struct WeftContext;
struct WeftCommand;

/// A library routine: hand-written (kernels/) or a wrapped library call. It
/// gets its threads only through the context's parallel-for.
typedef void (*WeftLibraryFn)(struct WeftContext *context,
                              const struct WeftCommand *command,
                              void *const *buffers);

/// A kernel of the images of a program for a device, and the launch that it is
/// written for. Its parameters are the addresses of the command's buffers.
struct WeftDeviceKernel {
  const char *name;
  int32_t blocks;             // of the grid, which has one dimension
  int32_t threadsX, threadsY; // of a block
};

/// Machine code for one kind of device: a cubin.
struct WeftImage {
  const char *chip; // "sm_90"
  const void *data;
  int64_t bytes;
};

/// One command of a straight-line program. Exactly one of `kernel`,
/// `deviceKernel` and `library` is set.
struct WeftCommand {
  const char *name;  // kernel symbol or library routine, for traces
  const char *scope; // module path of the op it came from ("h.3.attn") or ""
  WeftKernelFn kernel;
  const struct WeftDeviceKernel *deviceKernel;
  WeftLibraryFn library;
  const int64_t *offsets; // arena byte offsets, `numBuffers` of them
  const void *record;     // of `kind` (Records.h), 8-byte aligned; else null
  int64_t recordBytes;
  int32_t kind; // WeftCommandKind
  int32_t numBuffers;
  int64_t extent; // kernel: iteration range is [0, extent)
  int64_t grain;  // kernel: cuts are multiples of this
  /// Of the last buffer, whose contents mean nothing before and after the
  /// command (CpuWorkspaces.h); 0: there is none.
  int64_t workspaceBytes;
};

/// A named input or output of a program: bytes at a fixed arena offset.
struct WeftPort {
  const char *name; // "tokens", "targets", "lr", "loss", ...
  int32_t dtype;    // WeftDType
  int32_t rank;
  const int64_t *dims;
  int64_t offset;
  int64_t bytes;
};

/// The runtime asks for a program by its symbol, or by its kind if there is one
/// of that kind alone.
struct WeftProgram {
  const char *symbol; // unique: "micro", "apply", ...
  const char *kind;   // "init", "micro", "apply", "eval", "logits", "refresh",
                      // "denominators", "predict"
  const struct WeftCommand *commands;
  const struct WeftPort *inputs;
  const struct WeftPort *outputs;
  int32_t numCommands;
  int32_t numInputs;
  int32_t numOutputs;
};

enum WeftTensorKind {
  WEFT_PARAM = 0,       // model weight
  WEFT_GRADIENT = 1,    // gradient that apply reads; not checkpointed
  WEFT_OPTIMIZER = 2,   // moment, step counter, ...
  WEFT_SCALER = 3,      // loss-scale state
  WEFT_WORKING = 4,     // low-precision copy of a weight; not checkpointed
  WEFT_ACCUMULATOR = 5, // a rank's sum of a gradient before its reduction; not
                        // checkpointed
  WEFT_PRESENCE = 6,    // how often gradients were there; not checkpointed
  WEFT_DENOMINATOR = 7, // of a loss, over a whole step; not checkpointed
  WEFT_CACHE = 8        // keys and values of a sample; not checkpointed
};

/// A parameter, or a state kept for one, inside a flat tensor. It has elements
/// [begin, end) in row-major order, counted over all shards.
struct WeftSegment {
  const char *param; // the weight's name
  const char
      *source; // weights only: its name in the initial safetensors, or ""
  int32_t rank;
  const int64_t *dims;
  int64_t begin;
  int64_t end;
};

/// Persistent state at a fixed offset in all programs. A flat tensor has one
/// dimension and segments, in order; elements between them are zero and unused.
/// Of `slices` equal shards, rank r holds shard r mod slices.
struct WeftTensor {
  const char *name;   // "transformer.h.0.attn.c_attn.weight", "w.exp_avg", ...
  const char *param;  // for gradients and moments: the weight; else ""
  const char *source; // weight's name in the initial safetensors, or ""
  int32_t kind;       // WeftTensorKind
  int32_t dtype;      // WeftDType
  int32_t rank;
  int32_t trainable; // weights only: 1 or 0
  const int64_t *dims;
  int64_t offset;
  int64_t bytes;
  const char *slot; // with segments: the state kept for a weight ("exp_avg"),
                    // or "" for the weight itself
  const struct WeftSegment *segments;
  int32_t numSegments; // 0: the tensor is what its name says
  int32_t slices;      // with segments: at least 1
};

/// Everything about one compiled program, unpacked.
struct WeftExecutable {
  int32_t abiVersion;
  int32_t numPrograms;
  int32_t numTensors;
  int32_t maxThreads; // that workspaces are made for
  const struct WeftProgram *programs;
  const struct WeftTensor *tensors;
  int64_t arenaBytes;   // exact size; 64-byte aligned base
  const char *metadata; // JSON text, described in docs/reference/executable.md
  int64_t metadataBytes;
  const struct WeftImage *images; // programs for a device have some
  int32_t numImages;
};

#ifdef __cplusplus
} // extern "C"
#endif

#endif // WEFT_ABI_EXECUTABLE_H
