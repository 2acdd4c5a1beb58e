// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The gradient of |x|: g above 0, -g below, 0 at 0 and at NaN.

weft.param @x : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[X:.*]] = weft.read @x
  %x = weft.read @x : tensor<3x4xf32>
  %y = weft.abs %x : tensor<3x4xf32>
  // CHECK: %[[C0:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = weft.compare gt %[[X]], %[[C0]]
  // CHECK-NEXT: %[[V1:.*]] = weft.cast %[[V0]]
  // CHECK-NEXT: %[[V2:.*]] = weft.compare lt %[[X]], %[[C0]]
  // CHECK-NEXT: %[[V3:.*]] = weft.cast %[[V2]]
  // CHECK-NEXT: %[[V4:.*]] = weft.sub %[[V1]], %[[V3]]
  // CHECK-NEXT: %[[V5:.*]] = weft.mul %[[G]], %[[V4]]
  // CHECK: weft.accumulate %{{.*}}, %[[V5]],
  weft.return %y : tensor<3x4xf32>
}
