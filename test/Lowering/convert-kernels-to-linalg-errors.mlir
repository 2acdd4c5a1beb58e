// RUN: weft-opt %s --weft-convert-kernels-to-linalg --split-input-file --verify-diagnostics
// Kernels that are not one loop nest.

weft.kernel @k_spaces(%x: tensor<8xf32>, %y: tensor<5xf32>) -> tensor<8xf32> elementwise [8] inplace [[]] {
  %a = weft.exp %x : tensor<8xf32>
  // expected-error @+1 {{does not fit the loops of its kernel}}
  %b = weft.exp %y : tensor<5xf32>
  weft.yield %a : tensor<8xf32>
}

// -----

weft.kernel @k_argument(%x: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[]] {
  // expected-error @+1 {{expects values computed in the kernel, but got operand 0}}
  weft.yield %x : tensor<8xf32>
}

// -----

weft.kernel @k_partial(%x: tensor<8x4xf32>, %v: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>) rows [4, 8] over [1] inplace [[], []] {
  // expected-error @+1 {{does not have the extent of its kernel's outputs}}
  %a = weft.exp %v : tensor<4xf32>
  %b = weft.mul %x, %a : tensor<8x4xf32>, tensor<4xf32>
  weft.yield %b, %a : tensor<8x4xf32>, tensor<4xf32>
}
