// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The gradient passes a copy.

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<3x4xf32>
  %y = weft.materialize %x : tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[G]],
  weft.return %y : tensor<3x4xf32>
}
