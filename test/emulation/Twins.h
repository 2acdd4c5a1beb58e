//===- Twins.h - The table of a library of twins ----------------*- C -*-===//
//
// The tool weft-twins writes this table, and the emulated driver reads it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_EMULATION_TWINS_H
#define WEFT_TEST_EMULATION_TWINS_H

#include <stdint.h>

#define WEFT_TWINS_VERSION 1
/// The section of static shared memory.
#define WEFT_TWINS_SHARED "weft_shared"

#ifdef __cplusplus
extern "C" {
#endif

/// A kernel of this machine in place of one of a cubin.
struct WeftTwin {
  const char *name;
  /// Runs one thread; `arguments` points to each argument's value.
  void (*run)(void **arguments);
  int32_t numArguments;
  const int32_t *argumentBytes;
  /// The block that it is compiled for; 0 where any will do.
  uint32_t threads[3];
  /// The grid that it is compiled for; 0 where any will do.
  uint32_t blocks[3];
  /// Static shared memory: a part of the table's.
  int32_t sharedBytes;
};

/// The table that a library of twins exports as `weft_twins`.
struct WeftTwins {
  int32_t version; // WEFT_TWINS_VERSION
  int32_t isChecked;
  const char *chip;   // "sm_90"; "" for any
  const char *digest; // of the cubin: XXH3-128 in hexadecimal digits
  const char *cubin;  // where that is empty: paths of cubins, with colons
  int32_t numKernels;
  const struct WeftTwin *kernels;
  /// Static shared memory of all kernels.
  char *sharedBegin, *sharedEnd;
};

#ifdef __cplusplus
} // extern "C"
#endif

#endif // WEFT_TEST_EMULATION_TWINS_H
