// RUN: weft-opt %s --weft-lower-to-cpu --verify-diagnostics
// Kernels are lowered from their linalg form.

// expected-error @+1 {{expects weft-convert-kernels-to-linalg before weft-lower-to-cpu}}
weft.kernel @k_exp(%x: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[]] {
  %y = weft.exp %x : tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}
