// RUN: weft-opt %s --weft-autodiff --split-input-file | FileCheck %s

// With n = (x - mean) rstd and h = g w: rstd (h - mean(h) - n mean(h n)); the
// weight gets sum(g n), the bias sum(g). Mean and rstd are saved, not n.

weft.param @x : tensor<2x3x4xf32>
weft.param @w : tensor<4xf32>
weft.param @b : tensor<4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<2x3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<2x3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[X:.*]] = weft.read @x
  %x = weft.read @x : tensor<2x3x4xf32>
  // CHECK: %[[W:.*]] = weft.read @w
  %w = weft.read @w : tensor<4xf32>
  %b = weft.read @b : tensor<4xf32>
  // CHECK: %{{.*}}, %[[MEAN:.*]], %[[RSTD:.*]] = weft.layer_norm{{.*}}weft.saved = array<i64: 1, 2>
  %y, %mean, %rstd = weft.layer_norm %x, %w, %b {eps = 1.0e-5 : f64} : tensor<2x3x4xf32>, tensor<4xf32>
  // CHECK: %[[V0:.*]] = weft.reshape %[[RSTD]] : tensor<2x3xf32> to tensor<2x3x1xf32>
  // CHECK-NEXT: %[[V1:.*]] = weft.reshape %[[MEAN]] : tensor<2x3xf32> to tensor<2x3x1xf32>
  // CHECK-NEXT: %[[V2:.*]] = weft.sub %[[X]], %[[V1]]
  // CHECK-NEXT: %[[V3:.*]] = weft.mul %[[V2]], %[[V0]]
  // CHECK-NEXT: %[[V4:.*]] = weft.mul %[[G]], %[[W]]
  // CHECK-NEXT: %[[V5:.*]] = weft.mul %[[V4]], %[[V3]]
  // CHECK-NEXT: %[[V6:.*]] = weft.reduce mean %[[V5]] dims [2] {keep_dims} : tensor<2x3x4xf32>
  // CHECK-NEXT: %[[V7:.*]] = weft.reduce mean %[[V4]] dims [2] {keep_dims} : tensor<2x3x4xf32>
  // CHECK-NEXT: %[[V8:.*]] = weft.sub %[[V4]], %[[V7]]
  // CHECK-NEXT: %[[V9:.*]] = weft.mul %[[V3]], %[[V6]]
  // CHECK-NEXT: %[[V10:.*]] = weft.sub %[[V8]], %[[V9]]
  // CHECK-NEXT: %[[V11:.*]] = weft.mul %[[V10]], %[[V0]]
  // CHECK: weft.accumulate %{{.*}}, %[[V11]],
  // CHECK: %[[V12:.*]] = weft.mul %[[G]], %[[V3]]
  // CHECK-NEXT: %[[V13:.*]] = weft.reduce sum %[[V12]] dims [0, 1] : tensor<2x3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V13]],
  // CHECK: %[[V14:.*]] = weft.reduce sum %[[G]] dims [0, 1] : tensor<2x3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V14]],
  weft.return %y : tensor<2x3x4xf32>
}

// -----

// Only the bias is trained: no normal, no saved values.

weft.param @w : tensor<4xf32> {trainable = false}
weft.param @b : tensor<4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<2x3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%x: tensor<2x3x4xf32> {weft.input = "x"}, %g: tensor<2x3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4xf32>
  %b = weft.read @b : tensor<4xf32>
  %y, %mean, %rstd = weft.layer_norm %x, %w, %b {eps = 1.0e-5 : f64} : tensor<2x3x4xf32>, tensor<4xf32>
  // CHECK: %[[V0:.*]] = weft.reduce sum %[[G]] dims [0, 1] : tensor<2x3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  weft.return %y : tensor<2x3x4xf32>
}
