// RUN: weft-opt %s --weft-select-kernels --split-input-file --verify-diagnostics
// Ops that nothing on the CPU can run.

// Without fusion an elementwise op has no routine.
weft.program @unfused(%x: tensor<16xf32> {weft.input = "x"})
    -> (tensor<16xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{has no implementation for the CPU; run weft-fuse before weft-select-kernels}}
  %y = weft.exp %x : tensor<16xf32>
  weft.return %y : tensor<16xf32>
}

// -----

weft.program @wide_matmul(%x: tensor<16x16xf64> {weft.input = "x"})
    -> (tensor<16x16xf64> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{does not support 'f64' on the CPU yet; cast to f32 before it}}
  %y = weft.matmul %x, %x : tensor<16x16xf64>, tensor<16x16xf64>
  weft.return %y : tensor<16x16xf64>
}

// -----

weft.program @half_attention(%q: tensor<1x4x2x8xf16> {weft.input = "q"})
    -> (tensor<1x4x2x8xf16> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{does not support 'f16' on the CPU yet; cast to f32 before it}}
  %y, %lse = weft.attention %q, %q, %q {causal, scale = 0.5 : f64} : tensor<1x4x2x8xf16>, tensor<1x4x2x8xf16>, tensor<1x4x2x8xf16>
  weft.return %y : tensor<1x4x2x8xf16>
}

// -----

// A result counts too: nothing else of this op is f64.
weft.program @wide_random(%seed: tensor<i64> {weft.input = "seed"})
    -> (tensor<8xf64> {weft.output = "y"}) attributes {kind = #weft.kind<init>} {
  // expected-error @+1 {{does not support 'f64' on the CPU yet; cast to f32 before it}}
  %y = weft.random_normal %seed {key = "w", mean = 0.0 : f64, std = 1.0 : f64} : tensor<8xf64>
  weft.return %y : tensor<8xf64>
}
