// RUN: weft-opt %s --weft-autodiff --split-input-file | FileCheck %s

// One op, which reads lse and denom.

weft.param @x : tensor<2x3x5xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[T:[^ ]*]]: tensor<2x3xi32> {weft.input = "t"}
// CHECK-SAME: %[[G:[^ ]*]]: tensor<f32> {weft.input = "loss_seed"}
weft.program @micro(%t: tensor<2x3xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[X:.*]] = weft.read @x
  %x = weft.read @x : tensor<2x3x5xf32>
  // CHECK: %{{.*}}, %[[LSE:.*]], %[[DENOM:.*]] = weft.cross_entropy{{.*}}weft.saved = array<i64: 1, 2>
  %y, %lse, %denom = weft.cross_entropy %x, %t : tensor<2x3x5xf32>, tensor<2x3xi32>
  // CHECK: %[[V0:.*]] = weft.cross_entropy_grad %[[G]], %[[X]], %[[T]], %[[LSE]], %[[DENOM]] : tensor<f32>, tensor<2x3x5xf32>, tensor<2x3xi32>, tensor<2x3xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  weft.return %y : tensor<f32>
}

// -----

// Class weights, smoothing and reduction go along.

weft.param @x : tensor<3x5xf32>
weft.param @w : tensor<5xf32> {trainable = false}
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[T:[^ ]*]]: tensor<3xi32> {weft.input = "t"}
// CHECK-SAME: %[[G:[^ ]*]]: tensor<f32> {weft.input = "loss_seed"}
weft.program @micro(%t: tensor<3xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[X:.*]] = weft.read @x
  %x = weft.read @x : tensor<3x5xf32>
  // CHECK: %[[W:.*]] = weft.read @w
  %w = weft.read @w : tensor<5xf32>
  // CHECK: %{{.*}}, %[[LSE:.*]], %[[DENOM:.*]] = weft.cross_entropy{{.*}}weft.saved = array<i64: 1, 2>
  %y, %lse, %denom = weft.cross_entropy %x, %t weight %w : tensor<5xf32> {ignore_index = 0, label_smoothing = 0.1 : f64, reduction = #weft.loss_reduction<sum>} : tensor<3x5xf32>, tensor<3xi32>
  // CHECK: %[[V0:.*]] = weft.cross_entropy_grad %[[G]], %[[X]], %[[T]], %[[LSE]], %[[DENOM]] weight %[[W]] : tensor<5xf32> {ignore_index = 0 : i64, label_smoothing = 1.000000e-01 : f64, reduction = #weft.loss_reduction<sum>} : tensor<f32>, tensor<3x5xf32>, tensor<3xi32>, tensor<3xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  weft.return %y : tensor<f32>
}
