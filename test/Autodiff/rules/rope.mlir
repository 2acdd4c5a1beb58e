// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The rotation turns back: sin changes its sign.

weft.param @x : tensor<2x3x4x8xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[COS:[^ ]*]]: tensor<3x4xf32> {weft.input = "cos"}
// CHECK-SAME: %[[SIN:[^ ]*]]: tensor<3x4xf32> {weft.input = "sin"}
// CHECK-SAME: %[[G:[^ ]*]]: tensor<2x3x4x8xf32> {weft.input = "loss_seed"}
weft.program @micro(%cos: tensor<3x4xf32> {weft.input = "cos"}, %sin: tensor<3x4xf32> {weft.input = "sin"}, %g: tensor<2x3x4x8xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3x4x8xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<2x3x4x8xf32>
  %y = weft.rope %x, %cos, %sin : tensor<2x3x4x8xf32>, tensor<3x4xf32>
  // CHECK: %[[V0:.*]] = weft.neg %[[SIN]]
  // CHECK-NEXT: %[[V1:.*]] = weft.rope %[[G]], %[[COS]], %[[V0]] : tensor<2x3x4x8xf32>, tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V1]],
  weft.return %y : tensor<2x3x4x8xf32>
}
