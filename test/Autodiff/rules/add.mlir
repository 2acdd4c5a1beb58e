// RUN: weft-opt %s --weft-autodiff --split-input-file | FileCheck %s

// Both operands get g; what was broadcast is summed back.

weft.param @a : tensor<3x4xf32>
weft.param @b : tensor<4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %a = weft.read @a : tensor<3x4xf32>
  %b = weft.read @b : tensor<4xf32>
  %y = weft.add %a, %b : tensor<3x4xf32>, tensor<4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[G]],
  // CHECK: %[[V0:.*]] = weft.reduce sum %[[G]] dims [0] : tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  weft.return %y : tensor<3x4xf32>
}

// -----

// Sizes of 1 and missing dimensions.

weft.param @a : tensor<3x1xf32>
weft.param @b : tensor<2x3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<2x3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<2x3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %a = weft.read @a : tensor<3x1xf32>
  %b = weft.read @b : tensor<2x3x4xf32>
  %y = weft.add %a, %b : tensor<3x1xf32>, tensor<2x3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[G]],
  // CHECK: %[[V0:.*]] = weft.reduce sum %[[G]] dims [0, 2] : tensor<2x3x4xf32>
  // CHECK-NEXT: %[[V1:.*]] = weft.reshape %[[V0]] : tensor<3xf32> to tensor<3x1xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V1]],
  weft.return %y : tensor<2x3x4xf32>
}
