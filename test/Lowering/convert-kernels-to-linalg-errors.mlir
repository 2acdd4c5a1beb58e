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

// -----

// A sum over 4 x 17 elements is one over 68.
// expected-error @below {{expects loops that add up complete rows in order, but got steps of 17 elements}}
weft.kernel @k_steps(%x: tensor<4x17xf32>, %g: tensor<17xf32>) -> tensor<f32> rows [4, 17] over [0, 1] inplace [[]] {
  %m = weft.mul %x, %g : tensor<4x17xf32>, tensor<17xf32>
  %s = weft.reduce sum %m dims [0, 1] : tensor<4x17xf32>
  weft.yield %s : tensor<f32>
}

// -----

// expected-error @below {{expects ports with a pitch to be read and written row by row, but got 'tensor<8x4xf32>' as port 0}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<4x8xf32> elementwise [32] inplace [[]] pitches [5, 0] {
  %r = weft.reshape %x : tensor<8x4xf32> to tensor<4x8xf32>
  %y = weft.neg %r : tensor<4x8xf32>
  weft.yield %y : tensor<4x8xf32>
}

// -----

// One value, which is written in one way.
// expected-error @below {{expects ports with a pitch to be read and written row by row, but got 'tensor<8x4xf32>' as port 2}}
weft.kernel @k(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) elementwise [8, 4] inplace [[], []] pitches [0, 5, 6] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y, %y : tensor<8x4xf32>, tensor<8x4xf32>
}
