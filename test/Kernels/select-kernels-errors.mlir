// RUN: weft-opt %s --weft-select-kernels --split-input-file --verify-diagnostics
// Ops that nothing on the CPU can run.

weft.program @wide_matmul(%x: tensor<16x16xf64> {weft.input = "x"})
    -> (tensor<16x16xf64> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{does not support 'f64' on the CPU yet; cast to f32 before it}}
  %y = weft.matmul %x, %x : tensor<16x16xf64>, tensor<16x16xf64>
  weft.return %y : tensor<16x16xf64>
}

// -----

// The moments of an update are f32 whatever the parameter is.
weft.program @half_moments(%p: tensor<4xbf16> {weft.input = "p"}, %coef: tensor<f32> {weft.input = "coef"},
    %skip: tensor<i1> {weft.input = "skip"}, %step: tensor<i64> {weft.input = "step"}, %lr: tensor<f64> {weft.input = "lr"})
    -> (tensor<4xbf16> {weft.output = "y"}) attributes {kind = #weft.kind<apply>} {
  // expected-error @+1 {{'weft.sgd' op does not support 'bf16' on the CPU yet; cast to f32 before it}}
  %y, %b = weft.sgd(%p, %p, %p, %coef, %skip, %step, %lr, %lr, %lr) : (tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xbf16>, tensor<4xbf16>)
  weft.return %y : tensor<4xbf16>
}

// -----

// A result counts too: nothing else of this op is f64.
weft.program @wide_random(%seed: tensor<i64> {weft.input = "seed"})
    -> (tensor<8xf64> {weft.output = "y"}) attributes {kind = #weft.kind<init>} {
  // expected-error @+1 {{does not support 'f64' on the CPU yet; cast to f32 before it}}
  %y = weft.random_normal %seed {key = "w", mean = 0.0 : f64, std = 1.0 : f64} : tensor<8xf64>
  weft.return %y : tensor<8xf64>
}

// -----

weft.program @half_random(%seed: tensor<i64> {weft.input = "seed"})
    -> (tensor<8xf16> {weft.output = "y"}) attributes {kind = #weft.kind<init>} {
  // expected-error @+1 {{'weft.random_uniform' op does not support 'f16' on the CPU yet; cast to f32 before it}}
  %y = weft.random_uniform %seed {key = "w", low = 0.0 : f64, high = 1.0 : f64} : tensor<8xf16>
  weft.return %y : tensor<8xf16>
}

// -----

// Scalars count too.
weft.program @wide_norm(%g: tensor<f64> {weft.input = "g"})
    -> (tensor<f64> {weft.output = "y"}) attributes {kind = #weft.kind<apply>} {
  // expected-error @+1 {{'weft.norm_and_check' op does not support 'f64' on the CPU yet; cast to f32 before it}}
  %norm, %bad = weft.norm_and_check %g {p = 2.0 : f64} : tensor<f64>
  weft.return %norm : tensor<f64>
}

// -----

// A product that the library of another target merged.
weft.program @merged(%x: tensor<4x4xf32> {weft.input = "x"}) -> (tensor<4x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{'weft.gemm' op expects what a product of the CPU does itself, but got relu}}
  %y = weft.gemm %x * %x epilogue relu : tensor<4x4xf32> * tensor<4x4xf32> -> tensor<4x4xf32>
  weft.return %y : tensor<4x4xf32>
}
