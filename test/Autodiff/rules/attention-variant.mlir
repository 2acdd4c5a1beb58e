// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The adjoint has the window, the softcap and the documents of the forward op.
// Documents have no gradient.

weft.param @q : tensor<2x3x4x8xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[IDS:[^ ]*]]: tensor<2x3xi32> {weft.input = "ids"}
weft.program @micro(%ids: tensor<2x3xi32> {weft.input = "ids"}, %g: tensor<2x3x4x8xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3x4x8xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %q = weft.read @q : tensor<2x3x4x8xf32>
  // CHECK: weft.attention %{{.*}} segments %[[IDS]] : tensor<2x3xi32> {causal, scale = 5.000000e-01 : f64, softcap = 3.000000e+01 : f64, weft.saved = array<i64: 0, 1>, window = 2 : i64}
  %y, %lse = weft.attention %q, %q, %q segments %ids : tensor<2x3xi32> {causal, scale = 0.5 : f64, softcap = 30.0 : f64, window = 2 : i64} : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>
  // CHECK: weft.attention_grad %{{.*}} segments %[[IDS]] : tensor<2x3xi32> {causal, scale = 5.000000e-01 : f64, softcap = 3.000000e+01 : f64, window = 2 : i64}
  weft.return %y : tensor<2x3x4x8xf32>
}
