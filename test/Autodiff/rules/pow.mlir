// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// g b a^(b-1) for the base, 0 where b = 0; g y ln(a) for the exponent, 0 where
// a = 0 and b >= 0.

weft.param @a : tensor<3x4xf32>
weft.param @b : tensor<f32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[A:.*]] = weft.read @a
  %a = weft.read @a : tensor<3x4xf32>
  // CHECK: %[[B:.*]] = weft.read @b
  %b = weft.read @b : tensor<f32>
  // CHECK: %[[Y:.*]] = weft.pow{{.*}}weft.saved = array<i64: 0>
  %y = weft.pow %a, %b : tensor<3x4xf32>, tensor<f32>
  // CHECK: %[[C0:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[C1:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = weft.sub %[[B]], %[[C1]]
  // CHECK-NEXT: %[[V1:.*]] = weft.pow %[[A]], %[[V0]]
  // CHECK-NEXT: %[[V2:.*]] = weft.compare eq %[[B]], %[[C0]]
  // CHECK-NEXT: %[[V3:.*]] = weft.mul %[[B]], %[[V1]]
  // CHECK-NEXT: %[[V4:.*]] = weft.select %[[V2]], %[[C0]], %[[V3]]
  // CHECK-NEXT: %[[V5:.*]] = weft.mul %[[G]], %[[V4]]
  // CHECK: weft.accumulate %{{.*}}, %[[V5]],
  // CHECK: %[[V6:.*]] = weft.compare eq %[[A]], %[[C0]]
  // CHECK-NEXT: %[[V7:.*]] = weft.compare ge %[[B]], %[[C0]]
  // CHECK-NEXT: %[[V8:.*]] = weft.and %[[V6]], %[[V7]]
  // CHECK-NEXT: %[[V9:.*]] = weft.log %[[A]]
  // CHECK-NEXT: %[[V10:.*]] = weft.mul %[[Y]], %[[V9]]
  // CHECK-NEXT: %[[V11:.*]] = weft.select %[[V8]], %[[C0]], %[[V10]]
  // CHECK-NEXT: %[[V12:.*]] = weft.mul %[[G]], %[[V11]]
  // CHECK-NEXT: %[[V13:.*]] = weft.reduce sum %[[V12]] dims [0, 1] : tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V13]],
  weft.return %y : tensor<3x4xf32>
}
