// RUN: weft-opt %s --weft-autodiff --split-input-file | FileCheck %s

// da = g b^T, db = a^T g.

weft.param @a : tensor<3x4xf32>
weft.param @b : tensor<4x2xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<3x2xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<3x2xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x2xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[A:.*]] = weft.read @a
  %a = weft.read @a : tensor<3x4xf32>
  // CHECK: %[[B:.*]] = weft.read @b
  %b = weft.read @b : tensor<4x2xf32>
  %y = weft.matmul %a, %b : tensor<3x4xf32>, tensor<4x2xf32>
  // CHECK: %[[V0:.*]] = weft.matmul %[[G]], %[[B]] {transpose_rhs} : tensor<3x2xf32>, tensor<4x2xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  // CHECK: %[[V1:.*]] = weft.matmul %[[A]], %[[G]] {transpose_lhs} : tensor<3x4xf32>, tensor<3x2xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V1]],
  weft.return %y : tensor<3x2xf32>
}

// -----

// A linear layer: the gradient of the shared weight is one product over the
// flattened rows.

weft.param @a : tensor<2x3x4xf32>
weft.param @b : tensor<5x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<2x3x5xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<2x3x5xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3x5xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[A:.*]] = weft.read @a
  %a = weft.read @a : tensor<2x3x4xf32>
  // CHECK: %[[B:.*]] = weft.read @b
  %b = weft.read @b : tensor<5x4xf32>
  %y = weft.matmul %a, %b {transpose_rhs} : tensor<2x3x4xf32>, tensor<5x4xf32>
  // CHECK: %[[V0:.*]] = weft.matmul %[[G]], %[[B]] : tensor<2x3x5xf32>, tensor<5x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  // CHECK: %[[V1:.*]] = weft.reshape %[[A]] : tensor<2x3x4xf32> to tensor<6x4xf32>
  // CHECK-NEXT: %[[V2:.*]] = weft.reshape %[[G]] : tensor<2x3x5xf32> to tensor<6x5xf32>
  // CHECK-NEXT: %[[V3:.*]] = weft.matmul %[[V2]], %[[V1]] {transpose_lhs} : tensor<6x5xf32>, tensor<6x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V3]],
  weft.return %y : tensor<2x3x5xf32>
}

// -----

// Equal batches with a transposed right side.

weft.param @a : tensor<2x3x4xf32>
weft.param @b : tensor<2x5x4xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<2x3x5xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<2x3x5xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3x5xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[A:.*]] = weft.read @a
  %a = weft.read @a : tensor<2x3x4xf32>
  // CHECK: %[[B:.*]] = weft.read @b
  %b = weft.read @b : tensor<2x5x4xf32>
  %y = weft.matmul %a, %b {transpose_rhs} : tensor<2x3x4xf32>, tensor<2x5x4xf32>
  // CHECK: %[[V0:.*]] = weft.matmul %[[G]], %[[B]] : tensor<2x3x5xf32>, tensor<2x5x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  // CHECK: %[[V1:.*]] = weft.matmul %[[G]], %[[A]] {transpose_lhs} : tensor<2x3x5xf32>, tensor<2x3x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V1]],
  weft.return %y : tensor<2x3x5xf32>
}

// -----

// A shared left side: the columns of all batches become rows.

weft.param @a : tensor<3x4xf32>
weft.param @b : tensor<2x4x5xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<2x3x5xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<2x3x5xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3x5xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[A:.*]] = weft.read @a
  %a = weft.read @a : tensor<3x4xf32>
  // CHECK: %[[B:.*]] = weft.read @b
  %b = weft.read @b : tensor<2x4x5xf32>
  %y = weft.matmul %a, %b : tensor<3x4xf32>, tensor<2x4x5xf32>
  // CHECK: %[[V0:.*]] = weft.transpose %[[B]] [0, 2, 1] : tensor<2x4x5xf32>
  // CHECK-NEXT: %[[V1:.*]] = weft.reshape %[[V0]] : tensor<2x5x4xf32> to tensor<10x4xf32>
  // CHECK-NEXT: %[[V2:.*]] = weft.transpose %[[G]] [0, 2, 1] : tensor<2x3x5xf32>
  // CHECK-NEXT: %[[V3:.*]] = weft.reshape %[[V2]] : tensor<2x5x3xf32> to tensor<10x3xf32>
  // CHECK-NEXT: %[[V4:.*]] = weft.matmul %[[V3]], %[[V1]] {transpose_lhs} : tensor<10x3xf32>, tensor<10x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V4]],
  // CHECK: %[[V5:.*]] = weft.matmul %[[A]], %[[G]] {transpose_lhs} : tensor<3x4xf32>, tensor<2x3x5xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V5]],
  weft.return %y : tensor<2x3x5xf32>
}

// -----

// A bias gets the sum of the rows.

weft.param @a : tensor<2x3x4xf32>
weft.param @b : tensor<5x4xf32>
weft.param @c : tensor<5xf32>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[G:[^ ]*]]: tensor<2x3x5xf32> {weft.input = "loss_seed"}
weft.program @micro(%g: tensor<2x3x5xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3x5xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %a = weft.read @a : tensor<2x3x4xf32>
  %b = weft.read @b : tensor<5x4xf32>
  %c = weft.read @c : tensor<5xf32>
  %y = weft.matmul %a, %b bias %c : tensor<5xf32> {transpose_rhs} : tensor<2x3x4xf32>, tensor<5x4xf32>
  // CHECK: weft.matmul %[[G]],
  // CHECK: weft.matmul %{{.*}} {transpose_lhs} : tensor<6x5xf32>, tensor<6x4xf32>
  // CHECK: %[[V0:.*]] = weft.reduce sum %[[G]] dims [0, 1] : tensor<2x3x5xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[V0]],
  weft.return %y : tensor<2x3x5xf32>
}

// -----

// An f32 result of f16 operands: its gradient is rounded for the products,
// which have f16 operands as the forward op has, and not for the bias.

weft.param @b : tensor<4x5xf16>
weft.param @c : tensor<5xf16>
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[X:[^ ]*]]: tensor<3x4xf16> {weft.input = "x"}, %[[G:[^ ]*]]: tensor<3x5xf32> {weft.input = "loss_seed"}
weft.program @micro(%x: tensor<3x4xf16> {weft.input = "x"}, %g: tensor<3x5xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x5xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %b = weft.read @b : tensor<4x5xf16>
  %c = weft.read @c : tensor<5xf16>
  %e = weft.exp %b : tensor<4x5xf16>
  %f = weft.exp %c : tensor<5xf16>
  %y = weft.matmul %x, %e bias %f : tensor<5xf16> {out = f32} : tensor<3x4xf16>, tensor<4x5xf16>
  // CHECK: %[[V0:.*]] = weft.cast %[[G]] : tensor<3x5xf32> to tensor<3x5xf16>
  // CHECK-NEXT: weft.matmul %[[X]], %[[V0]] {transpose_lhs} : tensor<3x4xf16>, tensor<3x5xf16>
  // CHECK-NEXT: %[[V1:.*]] = weft.reduce sum %[[G]] dims [0] : tensor<3x5xf32>
  // CHECK-NEXT: weft.cast %[[V1]] : tensor<5xf32> to tensor<5xf16>
  weft.return %y : tensor<3x5xf32>
}
