// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The operand that was taken gets the gradient, the other one zeros.

weft.param @x : tensor<3x4xf32>
weft.param @f : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%rng: tensor<2xi64> {weft.input = "rng"}, %g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %p = weft.read @x : tensor<3x4xf32>
  %x = weft.neg %p : tensor<3x4xf32>
  %q = weft.read @f : tensor<3x4xf32>
  %f = weft.neg %q : tensor<3x4xf32>
  // CHECK: %{{.*}}, %[[D:.*]] = weft.layer_drop
  %y, %d = weft.layer_drop %x, %f rng %rng : tensor<2xi64> {op_id = 3, p = 0.1 : f64} : tensor<3x4xf32>
  // CHECK: %[[X:.*]] = weft.select %[[D]], %[[G]], %[[ZERO:.*]] : tensor<i1>, tensor<3x4xf32>, tensor<f32>
  // CHECK: %[[F:.*]] = weft.select %[[D]], %[[ZERO]], %[[G]] : tensor<i1>, tensor<f32>, tensor<3x4xf32>
  // CHECK-DAG: weft.neg %[[X]]
  // CHECK-DAG: weft.neg %[[F]]
  weft.return %y : tensor<3x4xf32>
}
