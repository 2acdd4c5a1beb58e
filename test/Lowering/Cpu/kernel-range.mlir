// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-kernels | FileCheck %s
// The range that the CPU chooses for its threads: elements of one dimension, rows, or tiles of columns; parts have 4096 elements if there are as many.

// CHECK: llvm.func @k_elements{{.*}} attributes {weft.extent = 24576 : i64, weft.grain = 4096 : i64}
weft.kernel @k_elements(%x: tensor<64x384xf32>) -> tensor<64x384xf32> elementwise [24576] inplace [[0]] {
  %y = weft.exp %x : tensor<64x384xf32>
  weft.yield %y : tensor<64x384xf32>
}

// CHECK: llvm.func @k_bias{{.*}} attributes {weft.extent = 64 : i64, weft.grain = 10 : i64}
weft.kernel @k_bias(%x: tensor<64x384xf32>, %b: tensor<384xf32>) -> tensor<64x384xf32> elementwise [64, 384] inplace [[0]] {
  %y = weft.add %x, %b : tensor<64x384xf32>, tensor<384xf32>
  weft.yield %y : tensor<64x384xf32>
}

// CHECK: llvm.func @k_rows{{.*}} attributes {weft.extent = 8 : i64, weft.grain = 1 : i64}
weft.kernel @k_rows(%x: tensor<8x5000xf32>) -> tensor<8xf32> rows [8, 5000] over [1] inplace [[]] {
  %s = weft.reduce sum %x dims [1] : tensor<8x5000xf32>
  weft.yield %s : tensor<8xf32>
}

// 64 columns at least, an eighth of them, 1024 at most, a multiple of 16.
// CHECK: llvm.func @k_columns{{.*}} attributes {weft.extent = 6 : i64, weft.grain = 1 : i64}
weft.kernel @k_columns(%x: tensor<64x384xf32>) -> tensor<384xf32> columns [64, 384] over [0] inplace [[]] {
  %s = weft.reduce sum %x dims [0] : tensor<64x384xf32>
  weft.yield %s : tensor<384xf32>
}

// CHECK: llvm.func @k_more_columns{{.*}} attributes {weft.extent = 24 : i64, weft.grain = 1 : i64}
weft.kernel @k_more_columns(%x: tensor<3x64x1001xf32>) -> tensor<3x1001xf32> columns [3, 64, 1001] over [1] inplace [[]] {
  %s = weft.reduce sum %x dims [1] : tensor<3x64x1001xf32>
  weft.yield %s : tensor<3x1001xf32>
}

// CHECK: llvm.func @k_most_columns{{.*}} attributes {weft.extent = 50 : i64, weft.grain = 1 : i64}
weft.kernel @k_most_columns(%x: tensor<64x50257xf32>) -> tensor<50257xf32> columns [64, 50257] over [0] inplace [[]] {
  %s = weft.reduce sum %x dims [0] : tensor<64x50257xf32>
  weft.yield %s : tensor<50257xf32>
}
