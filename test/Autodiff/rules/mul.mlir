// RUN: weft-opt %s --weft-autodiff --split-input-file | FileCheck %s

// g times the other operand.

weft.param @a : tensor<3x4xf32>
weft.param @b : tensor<4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[A:.*]] = weft.read @a
  %a = weft.read @a : tensor<3x4xf32>
  // CHECK: %[[B:.*]] = weft.read @b
  %b = weft.read @b : tensor<4xf32>
  %y = weft.mul %a, %b : tensor<3x4xf32>, tensor<4xf32>
  // CHECK: %[[V0:.*]] = weft.mul %[[G]], %[[B]]
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  // CHECK: %[[V1:.*]] = weft.mul %[[G]], %[[A]]
  // CHECK-NEXT: %[[V2:.*]] = weft.reduce sum %[[V1]] dims [0] : tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V2]],
  weft.return %y : tensor<3x4xf32>
}

// -----

// A frozen operand costs nothing.

weft.param @a : tensor<3x4xf32>
weft.param @b : tensor<4xf32> {trainable = false}
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %a = weft.read @a : tensor<3x4xf32>
  // CHECK: %[[B:.*]] = weft.read @b
  %b = weft.read @b : tensor<4xf32>
  %y = weft.mul %a, %b : tensor<3x4xf32>, tensor<4xf32>
  // CHECK: %[[V0:.*]] = weft.mul %[[G]], %[[B]]
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  weft.return %y : tensor<3x4xf32>
}
