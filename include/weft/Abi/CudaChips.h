//===- CudaChips.h - Chips that there is machine code for -------*- C++ -*-===//

#ifndef WEFT_ABI_CUDACHIPS_H
#define WEFT_ABI_CUDACHIPS_H

namespace weft {

/// Chips that the compiler makes code for: 90 is sm_90.
inline constexpr int kCudaChips[] = {80, 90, 100};

/// Machine code runs on later chips of its generation.
constexpr bool runsOnChip(int code, int major, int minor) {
  return code / 10 == major && code % 10 <= minor;
}

/// The latest chip of kCudaChips whose code runs on a device; 0 if there is
/// none.
constexpr int findCudaChip(int major, int minor) {
  int found = 0;
  for (int chip : kCudaChips)
    if (runsOnChip(chip, major, minor))
      found = chip;
  return found;
}

} // namespace weft

#endif // WEFT_ABI_CUDACHIPS_H
