// RUN: weft-opt %s --weft-autodiff --split-input-file | FileCheck %s

// 2 g / n (a - b), and its negative.

weft.param @a : tensor<3x4xf32>
weft.param @b : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<f32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<f32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[A:.*]] = weft.read @a
  %a = weft.read @a : tensor<3x4xf32>
  // CHECK: %[[B:.*]] = weft.read @b
  %b = weft.read @b : tensor<3x4xf32>
  %y = weft.mse %a, %b : tensor<3x4xf32>
  // CHECK: %[[TWO:.*]] = weft.constant dense<2.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[G2:.*]] = weft.mul %[[G]], %[[TWO]]
  // CHECK-NEXT: %[[COUNT:.*]] = weft.constant dense<1.200000e+01> : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = weft.div %[[G2]], %[[COUNT]]
  // CHECK-NEXT: %[[V1:.*]] = weft.sub %[[A]], %[[B]]
  // CHECK-NEXT: %[[V2:.*]] = weft.mul %[[V1]], %[[V0]]
  // CHECK: weft.accumulate %{{.*}}, %[[V2]],
  // CHECK: %[[V3:.*]] = weft.neg %[[V2]]
  // CHECK: weft.accumulate %{{.*}}, %[[V3]],
  weft.return %y : tensor<f32>
}

// -----

// A sum is not divided.

weft.param @a : tensor<3x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[B:[^ ]*]]: tensor<3x4xf32> {weft.input = "b"}
// CHECK-SAME: %[[G:[^ ]*]]: tensor<f32> {weft.input = "loss_seed"}
weft.program @micro(%b: tensor<3x4xf32> {weft.input = "b"}, %g: tensor<f32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[A:.*]] = weft.read @a
  %a = weft.read @a : tensor<3x4xf32>
  %y = weft.mse %a, %b {reduction = #weft.loss_reduction<sum>} : tensor<3x4xf32>
  // CHECK: %[[C0:.*]] = weft.constant dense<2.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[V0:.*]] = weft.mul %[[G]], %[[C0]]
  // CHECK-NEXT: %[[V1:.*]] = weft.sub %[[A]], %[[B]]
  // CHECK-NEXT: %[[V2:.*]] = weft.mul %[[V1]], %[[V0]]
  // CHECK: weft.accumulate %{{.*}}, %[[V2]],
  weft.return %y : tensor<f32>
}
