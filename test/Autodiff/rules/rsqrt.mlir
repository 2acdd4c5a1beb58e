// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The gradient of x^(-1/2): -g/2 y^3, from the left:
// y^3 alone may be infinite.

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<3x4xf32>
  // CHECK: %[[Y:.*]] = weft.rsqrt{{.*}}weft.saved = array<i64: 0>
  %y = weft.rsqrt %x : tensor<3x4xf32>
  // CHECK: %[[C0:.*]] = weft.constant dense<-5.000000e-01> : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = weft.mul %[[G]], %[[C0]]
  // CHECK-NEXT: %[[V1:.*]] = weft.mul %[[V0]], %[[Y]]
  // CHECK-NEXT: %[[V2:.*]] = weft.mul %[[V1]], %[[Y]]
  // CHECK-NEXT: %[[V3:.*]] = weft.mul %[[V2]], %[[Y]]
  // CHECK: weft.accumulate %{{.*}}, %[[V3]],
  weft.return %y : tensor<3x4xf32>
}
