// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The gradient of sqrt(x): g / (2 y).

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<3x4xf32>
  // CHECK: %[[Y:.*]] = weft.sqrt{{.*}}weft.saved = array<i64: 0>
  %y = weft.sqrt %x : tensor<3x4xf32>
  // CHECK: %[[C0:.*]] = weft.constant dense<2.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = weft.mul %[[Y]], %[[C0]]
  // CHECK-NEXT: %[[V1:.*]] = weft.div %[[G]], %[[V0]]
  // CHECK: weft.accumulate %{{.*}}, %[[V1]],
  weft.return %y : tensor<3x4xf32>
}
