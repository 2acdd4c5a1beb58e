// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// g / n (sigmoid(x) - t) for the logits, -g / n x for the targets.

weft.param @x : tensor<3x4xf32>
weft.param @t : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<f32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<f32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[X:.*]] = weft.read @x
  %x = weft.read @x : tensor<3x4xf32>
  // CHECK: %[[T:.*]] = weft.read @t
  %t = weft.read @t : tensor<3x4xf32>
  %y = weft.bce_with_logits %x, %t : tensor<3x4xf32>
  // CHECK: %[[C0:.*]] = weft.constant dense<1.200000e+01> : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = weft.div %[[G]], %[[C0]]
  // CHECK-NEXT: %[[V1:.*]] = weft.sigmoid %[[X]]
  // CHECK-NEXT: %[[V2:.*]] = weft.sub %[[V1]], %[[T]]
  // CHECK-NEXT: %[[V3:.*]] = weft.mul %[[V2]], %[[V0]]
  // CHECK: weft.accumulate %{{.*}}, %[[V3]],
  // CHECK: %[[V4:.*]] = weft.mul %[[X]], %[[V0]]
  // CHECK-NEXT: %[[V5:.*]] = weft.neg %[[V4]]
  // CHECK: weft.accumulate %{{.*}}, %[[V5]],
  weft.return %y : tensor<f32>
}
