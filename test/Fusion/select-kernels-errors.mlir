// RUN: weft-opt %s --weft-select-kernels --split-input-file --verify-diagnostics
// Ops that nothing on the CPU can run.

weft.program @wide_matmul(%x: tensor<16x16xf64> {weft.input = "x"})
    -> (tensor<16x16xf64> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{does not support 'f64' on the CPU yet; cast to f32 before it}}
  %y = weft.matmul %x, %x : tensor<16x16xf64>, tensor<16x16xf64>
  weft.return %y : tensor<16x16xf64>
}

// -----

// A product that the library of another target merged.
weft.program @merged(%x: tensor<4x4xf32> {weft.input = "x"}) -> (tensor<4x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{'weft.gemm' op expects an operation that a product of the CPU does itself, but got relu}}
  %y = weft.gemm %x * %x epilogue relu : tensor<4x4xf32> * tensor<4x4xf32> -> tensor<4x4xf32>
  weft.return %y : tensor<4x4xf32>
}
