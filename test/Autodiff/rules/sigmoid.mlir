// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The gradient of the sigmoid: g y (1 - y).

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @x : tensor<3x4xf32>
  // CHECK: %[[Y:.*]] = weft.sigmoid{{.*}}weft.saved = array<i64: 0>
  %y = weft.sigmoid %x : tensor<3x4xf32>
  // CHECK: %[[C0:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = weft.sub %[[C0]], %[[Y]]
  // CHECK-NEXT: %[[V1:.*]] = weft.mul %[[Y]], %[[V0]]
  // CHECK-NEXT: %[[V2:.*]] = weft.mul %[[G]], %[[V1]]
  // CHECK: weft.accumulate %{{.*}}, %[[V2]],
  weft.return %y : tensor<3x4xf32>
}
