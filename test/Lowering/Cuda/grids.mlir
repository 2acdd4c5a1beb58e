// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-kernels-to-gpu --split-input-file --verify-diagnostics | FileCheck %s
// A grid has at most 2^31 - 1 blocks: here of 256 threads that take 8 elements each.

// CHECK: gpu.func @k_most
// CHECK-SAME: known_grid_size = array<i32: 2147483647, 1, 1>
weft.kernel @k_most(%x: tensor<4398046509056xbf16>) -> tensor<4398046509056xbf16> elementwise [4398046509056] inplace [[]] {
  %y = weft.neg %x : tensor<4398046509056xbf16>
  weft.yield %y : tensor<4398046509056xbf16>
}

// -----

// expected-error @+1 {{expects sizes for a grid of at most 2147483647 blocks, but got 2147483648 blocks}}
weft.kernel @k_more(%x: tensor<4398046509057xbf16>) -> tensor<4398046509057xbf16> elementwise [4398046509057] inplace [[]] {
  %y = weft.neg %x : tensor<4398046509057xbf16>
  weft.yield %y : tensor<4398046509057xbf16>
}

// -----

// A block takes 8 rows of 2.
// expected-error @+1 {{expects sizes for a grid of at most 2147483647 blocks, but got 8589934592 blocks}}
weft.kernel @k_rows(%x: tensor<68719476736x2xf32>) -> tensor<68719476736xf32> rows [68719476736, 2] over [1] inplace [[]] {
  %y = weft.reduce sum %x dims [1] : tensor<68719476736x2xf32>
  weft.yield %y : tensor<68719476736xf32>
}
