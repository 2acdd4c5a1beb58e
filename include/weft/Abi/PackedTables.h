//===- PackedTables.h - Tables without addresses ----------------*- C++ -*-===//
//
// The structs of Executable.h without an address in them: thousands of commands
// cost the code generator, the linker and the loader no relocation each. The
// lists of fields below are all there is to a layout: the compiler fills the
// structs that are made of them, and the runtime unpacks field by field.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_PACKEDTABLES_H
#define WEFT_ABI_PACKEDTABLES_H

#include "weft/Abi/Executable.h"

// X(How, field): the field of Executable.h of that name is packed as a
// WeftPacked##How.

#define WEFT_PROGRAM_FIELDS(X)                                                 \
  X(Text, symbol)                                                              \
  X(Text, kind)                                                                \
  X(Small, numCommands)                                                        \
  X(Small, numInputs)                                                          \
  X(Small, numOutputs)

#define WEFT_COMMAND_FIELDS(X)                                                 \
  X(Text, name)                                                                \
  X(Text, scope)                                                               \
  X(Kernel, kernel)                                                            \
  X(DeviceKernel, deviceKernel)                                                \
  X(Library, library)                                                          \
  X(List, offsets)                                                             \
  X(Record, record)                                                            \
  X(Word, recordBytes)                                                         \
  X(Small, kind)                                                               \
  X(Small, numBuffers)                                                         \
  X(Word, extent)                                                              \
  X(Word, grain)                                                               \
  X(Word, workspaceBytes)

#define WEFT_PORT_FIELDS(X)                                                    \
  X(Text, name)                                                                \
  X(Small, dtype)                                                              \
  X(Small, rank)                                                               \
  X(List, dims)                                                                \
  X(Word, offset)                                                              \
  X(Word, bytes)

#define WEFT_TENSOR_FIELDS(X)                                                  \
  X(Text, name)                                                                \
  X(Text, param)                                                               \
  X(Text, source)                                                              \
  X(Small, kind)                                                               \
  X(Small, dtype)                                                              \
  X(Small, rank)                                                               \
  X(Small, trainable)                                                          \
  X(List, dims)                                                                \
  X(Word, offset)                                                              \
  X(Word, bytes)                                                               \
  X(Text, slot)                                                                \
  X(Small, numSegments)                                                        \
  X(Small, slices)

#define WEFT_SEGMENT_FIELDS(X)                                                 \
  X(Text, param)                                                               \
  X(Text, source)                                                              \
  X(Small, rank)                                                               \
  X(List, dims)                                                                \
  X(Word, begin)                                                               \
  X(Word, end)

#define WEFT_DEVICE_KERNEL_FIELDS(X)                                           \
  X(Text, name)                                                                \
  X(Small, blocks)                                                             \
  X(Small, threadsX)                                                           \
  X(Small, threadsY)

#ifdef __cplusplus
extern "C" {
#endif

typedef int64_t WeftPackedWord;
typedef int64_t WeftPackedSmall; // of 32 bits
/// An index into `texts`; the text ends with a zero byte.
typedef struct {
  int64_t index;
} WeftPackedText;
/// An index into `lists`.
typedef struct {
  int64_t index;
} WeftPackedList;
/// A byte offset into `records`, or -1.
typedef struct {
  int64_t offset;
} WeftPackedRecord;
/// An index into `kernels`, or -1.
typedef struct {
  int64_t index;
} WeftPackedKernel;
/// An index into `deviceKernels`, or -1.
typedef struct {
  int64_t index;
} WeftPackedDeviceKernel;
/// An index into `libraries`, or -1.
typedef struct {
  int64_t index;
} WeftPackedLibrary;

#define WEFT_PACKED_FIELD(How, field) WeftPacked##How field;
struct WeftPackedProgram {
  WEFT_PROGRAM_FIELDS(WEFT_PACKED_FIELD)
};
struct WeftPackedCommand {
  WEFT_COMMAND_FIELDS(WEFT_PACKED_FIELD)
};
struct WeftPackedKernelLaunch {
  WEFT_DEVICE_KERNEL_FIELDS(WEFT_PACKED_FIELD)
};
struct WeftPackedPort {
  WEFT_PORT_FIELDS(WEFT_PACKED_FIELD)
};
struct WeftPackedTensor {
  WEFT_TENSOR_FIELDS(WEFT_PACKED_FIELD)
};
struct WeftPackedSegment {
  WEFT_SEGMENT_FIELDS(WEFT_PACKED_FIELD)
};
#undef WEFT_PACKED_FIELD

/// Everything about one compiled program; the symbol is `weft_tables`. The
/// commands of all programs follow each other, and so do their ports: a
/// program's inputs, then its outputs. The segments of all tensors follow each
/// other as well.
struct WeftTables {
  int32_t abiVersion;
  int32_t numPrograms;
  int32_t numTensors;
  int32_t maxThreads;
  const struct WeftPackedProgram *programs;
  const struct WeftPackedCommand *commands;
  const struct WeftPackedPort *ports;
  const struct WeftPackedTensor *tensors;
  const struct WeftPackedSegment *segments;
  const char *texts;
  const int64_t *lists;
  const char *records; // 8-byte aligned, as is every offset into them
  const WeftKernelFn *kernels;
  const struct WeftPackedKernelLaunch *deviceKernels;
  const WeftLibraryFn *libraries;
  int64_t arenaBytes;
  const char *metadata;
  int64_t metadataBytes;
  const struct WeftImage *images;
  int64_t numImages;
  int64_t numDeviceKernels;
};

#ifdef __cplusplus
} // extern "C"
#endif

#endif // WEFT_ABI_PACKEDTABLES_H
