// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The gradient of 1 / x: -g y^2, from the left: y^2
// alone may be infinite.

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<3x4xf32>
  // CHECK: %[[Y:.*]] = weft.reciprocal{{.*}}weft.saved = array<i64: 0>
  %y = weft.reciprocal %x : tensor<3x4xf32>
  // CHECK: %[[V0:.*]] = weft.mul %[[G]], %[[Y]]
  // CHECK-NEXT: %[[V1:.*]] = weft.mul %[[V0]], %[[Y]]
  // CHECK-NEXT: %[[V2:.*]] = weft.neg %[[V1]]
  // CHECK: weft.accumulate %{{.*}}, %[[V2]],
  weft.return %y : tensor<3x4xf32>
}
