// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The inverse permutation.

weft.param @x : tensor<2x3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<4x2x3xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<4x2x3xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<4x2x3xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<2x3x4xf32>
  %y = weft.transpose %x [2, 0, 1] : tensor<2x3x4xf32>
  // CHECK: %[[V0:.*]] = weft.transpose %[[G]] [1, 2, 0] : tensor<4x2x3xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  weft.return %y : tensor<4x2x3xf32>
}
