// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The gradient of silu: g s (1 + x (1 - s)) with s = sigmoid(x).

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[X:.*]] = weft.read @x
  %x = weft.read @x : tensor<3x4xf32>
  %y = weft.silu %x : tensor<3x4xf32>
  // CHECK: %[[C0:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = weft.sigmoid %[[X]]
  // CHECK-NEXT: %[[V1:.*]] = weft.sub %[[C0]], %[[V0]]
  // CHECK-NEXT: %[[V2:.*]] = weft.mul %[[X]], %[[V1]]
  // CHECK-NEXT: %[[V3:.*]] = weft.add %[[V2]], %[[C0]]
  // CHECK-NEXT: %[[V4:.*]] = weft.mul %[[V0]], %[[V3]]
  // CHECK-NEXT: %[[V5:.*]] = weft.mul %[[G]], %[[V4]]
  // CHECK: weft.accumulate %{{.*}}, %[[V5]],
  weft.return %y : tensor<3x4xf32>
}
