// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// One op with the attributes of the forward op; it reads out and lse.

weft.param @q : tensor<2x3x4x8xf32>
weft.param @k : tensor<2x3x2x8xf32>
weft.param @v : tensor<2x3x2x8xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[RNG:[^ ]*]]: tensor<2xi64> {weft.input = "rng"}
// CHECK-SAME: %[[G:[^ ]*]]: tensor<2x3x4x8xf32> {weft.input = "loss_seed"}
weft.program @micro(%rng: tensor<2xi64> {weft.input = "rng"}, %g: tensor<2x3x4x8xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3x4x8xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[Q:.*]] = weft.read @q
  %q = weft.read @q : tensor<2x3x4x8xf32>
  // CHECK: %[[K:.*]] = weft.read @k
  %k = weft.read @k : tensor<2x3x2x8xf32>
  // CHECK: %[[V:.*]] = weft.read @v
  %v = weft.read @v : tensor<2x3x2x8xf32>
  // CHECK: %[[Y:.*]], %[[LSE:.*]] = weft.attention{{.*}}weft.saved = array<i64: 0, 1>
  %y, %lse = weft.attention %q, %k, %v rng %rng : tensor<2xi64> {causal, dropout = 0.1 : f64, op_id = 3, scale = 0.5 : f64} : tensor<2x3x4x8xf32>, tensor<2x3x2x8xf32>, tensor<2x3x2x8xf32>
  // CHECK: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]] = weft.attention_grad %[[G]], %[[Q]], %[[K]], %[[V]], %[[Y]], %[[LSE]] rng %[[RNG]] : tensor<2xi64> {causal, dropout = 1.000000e-01 : f64, op_id = 3 : i64, scale = 5.000000e-01 : f64} : tensor<2x3x4x8xf32>, tensor<2x3x2x8xf32>, tensor<2x4x3xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V2]],
  // CHECK: weft.accumulate %{{.*}}, %[[V1]],
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  weft.return %y : tensor<2x3x4x8xf32>
}
