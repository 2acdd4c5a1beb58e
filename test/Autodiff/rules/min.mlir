// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// The smaller operand gets g, both half of it where they are equal, and
// both all of it where one is NaN.

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
  %y = weft.min %a, %b : tensor<3x4xf32>, tensor<4xf32>
  // CHECK: %[[C0:.*]] = weft.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = weft.compare eq %[[A]], %[[B]]
  // CHECK-NEXT: %[[C1:.*]] = weft.constant dense<5.000000e-01> : tensor<f32>
  // CHECK-NEXT: %[[V1:.*]] = weft.mul %[[G]], %[[C1]]
  // CHECK-NEXT: %[[V2:.*]] = weft.compare gt %[[A]], %[[B]]
  // CHECK-NEXT: %[[V3:.*]] = weft.select %[[V2]], %[[C0]], %[[G]]
  // CHECK-NEXT: %[[V4:.*]] = weft.select %[[V0]], %[[V1]], %[[V3]]
  // CHECK: weft.accumulate %{{.*}}, %[[V4]],
  // CHECK: %[[V5:.*]] = weft.compare gt %[[B]], %[[A]]
  // CHECK-NEXT: %[[V6:.*]] = weft.select %[[V5]], %[[C0]], %[[G]]
  // CHECK-NEXT: %[[V7:.*]] = weft.select %[[V0]], %[[V1]], %[[V6]]
  // CHECK-NEXT: %[[V8:.*]] = weft.reduce sum %[[V7]] dims [0] : tensor<3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V8]],
  weft.return %y : tensor<3x4xf32>
}
