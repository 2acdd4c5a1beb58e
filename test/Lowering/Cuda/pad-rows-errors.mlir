// RUN: weft-opt %s --weft-pad-rows --split-input-file --verify-diagnostics
// A kernel that is wrong is an error, not a reason to leave rows dense.

// expected-error @below {{expects elementwise [248], which its body runs over, but got elementwise [8, 31]}}
weft.kernel @k_neg(%z: tensor<8x31xf32>) -> tensor<8x31xf32> elementwise [8, 31] inplace [[0]] {
  %y = weft.neg %z : tensor<8x31xf32>
  weft.yield %y : tensor<8x31xf32>
}
plan.program "eval" @eval {
  %x = plan.input "x" : memref<8x4xf32>
  %w = plan.input "w" : memref<4x31xf32>
  %z = plan.alloc temporary : memref<8x31xf32>
  %n = plan.alloc temporary : memref<8x31xf32>
  plan.gemm %x * %w -> %z : memref<8x4xf32> * memref<4x31xf32> -> memref<8x31xf32>
  plan.launch @k_neg ins(%z : memref<8x31xf32>) outs(%n : memref<8x31xf32>)
  plan.output "n" %n : memref<8x31xf32>
}

// -----

weft.kernel @k_softmax(%z: tensor<8x31xf32>) -> tensor<8x31xf32> rows [8, 31] over [1] inplace [[0]] {
  // expected-error @below {{does not fit the loops of its kernel}}
  %y = weft.softmax %z : tensor<8x31xf32>
  weft.yield %y : tensor<8x31xf32>
}
plan.program "eval" @eval {
  %x = plan.input "x" : memref<8x4xf32>
  %w = plan.input "w" : memref<4x31xf32>
  %z = plan.alloc temporary : memref<8x31xf32>
  %n = plan.alloc temporary : memref<8x31xf32>
  plan.gemm %x * %w -> %z : memref<8x4xf32> * memref<4x31xf32> -> memref<8x31xf32>
  plan.launch @k_softmax ins(%z : memref<8x31xf32>) outs(%n : memref<8x31xf32>)
  plan.output "n" %n : memref<8x31xf32>
}
