// REQUIRES: full
// RUN: rm -rf %t && %python %S/Inputs/emulate.py %s %t 1 | FileCheck %s
// Sums over rows by threads with several columns each: two and four of them, and
// tiles that reach beyond the last column.

// CHECK-COUNT-3: {{^k_.*: equal$}}
// CHECK-NEXT: {{^5 results of 3 kernels as the interpreter computes them$}}
// CHECK-NOT: {{.}}
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.kernel @k_two(%x: tensor<256x5x64xf16>) -> (tensor<256x5x64xf16>, tensor<256x64xf32>) columns [256, 5, 64] over [1] inplace [[0], []] {
  %n = weft.neg %x : tensor<256x5x64xf16>
  %c = weft.cast %n : tensor<256x5x64xf16> to tensor<256x5x64xf32>
  %s = weft.reduce sum %c dims [1] : tensor<256x5x64xf32>
  weft.yield %n, %s : tensor<256x5x64xf16>, tensor<256x64xf32>
}
weft.kernel @k_four(%x: tensor<128x11x132xf32>, %b: tensor<132xf32>) -> tensor<128x132xf32> columns [128, 11, 132] over [1] inplace [[]] {
  %p = weft.mul %x, %b : tensor<128x11x132xf32>, tensor<132xf32>
  %s = weft.reduce sum %p dims [1] : tensor<128x11x132xf32>
  weft.yield %s : tensor<128x132xf32>
}
weft.kernel @k_blocks(%x: tensor<128x140x130xbf16>) -> (tensor<128x130xf32>, tensor<128x130xbf16>) columns [128, 140, 130] over [1] inplace [[], []] {
  %c = weft.cast %x : tensor<128x140x130xbf16> to tensor<128x140x130xf32>
  %s = weft.reduce sum %c dims [1] : tensor<128x140x130xf32>
  %m = weft.reduce max %x dims [1] : tensor<128x140x130xbf16>
  weft.yield %s, %m : tensor<128x130xf32>, tensor<128x130xbf16>
}
}
