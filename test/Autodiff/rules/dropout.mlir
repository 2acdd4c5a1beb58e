// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The same op, with the same key, on g.

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[RNG:[^ ]*]]: tensor<2xi64> {weft.input = "rng"}
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%rng: tensor<2xi64> {weft.input = "rng"}, %g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<3x4xf32>
  %y = weft.dropout %x rng %rng : tensor<2xi64> {op_id = 3, p = 0.1 : f64} : tensor<3x4xf32>
  // CHECK: %[[V0:.*]] = weft.dropout %[[G]] rng %[[RNG]] : tensor<2xi64> {op_id = 3 : i64, p = 1.000000e-01 : f64}
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  weft.return %y : tensor<3x4xf32>
}
