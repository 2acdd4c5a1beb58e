// RUN: weft-opt %s --weft-autodiff | FileCheck %s

// With n = x rstd and h = g w: rstd (h - n mean(h n)); the weight gets sum(g n).

weft.param @x : tensor<2x3x4xf32>
weft.param @w : tensor<4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<2x3x4xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<2x3x4xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3x4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[X:.*]] = weft.read @x
  %x = weft.read @x : tensor<2x3x4xf32>
  // CHECK: %[[W:.*]] = weft.read @w
  %w = weft.read @w : tensor<4xf32>
  // CHECK: %{{.*}}, %[[RSTD:.*]] = weft.rms_norm{{.*}}weft.saved = array<i64: 1>
  %y, %rstd = weft.rms_norm %x, %w {eps = 1.0e-6 : f64} : tensor<2x3x4xf32>, tensor<4xf32>
  // CHECK: %[[V0:.*]] = weft.reshape %[[RSTD]] : tensor<2x3xf32> to tensor<2x3x1xf32>
  // CHECK-NEXT: %[[V1:.*]] = weft.mul %[[X]], %[[V0]]
  // CHECK-NEXT: %[[V2:.*]] = weft.mul %[[G]], %[[W]]
  // CHECK-NEXT: %[[V3:.*]] = weft.mul %[[V2]], %[[V1]]
  // CHECK-NEXT: %[[V4:.*]] = weft.reduce mean %[[V3]] dims [2] {keep_dims} : tensor<2x3x4xf32>
  // CHECK-NEXT: %[[V5:.*]] = weft.mul %[[V1]], %[[V4]]
  // CHECK-NEXT: %[[V6:.*]] = weft.sub %[[V2]], %[[V5]]
  // CHECK-NEXT: %[[V7:.*]] = weft.mul %[[V6]], %[[V0]]
  // CHECK: weft.accumulate %{{.*}}, %[[V7]],
  // CHECK: %[[V8:.*]] = weft.mul %[[G]], %[[V1]]
  // CHECK-NEXT: %[[V9:.*]] = weft.reduce sum %[[V8]] dims [0, 1] : tensor<2x3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V9]],
  weft.return %y : tensor<2x3x4xf32>
}
