// RUN: weft-opt %s --weft-autodiff --split-input-file | FileCheck %s --check-prefix=F32
// RUN: weft-opt %s --weft-autodiff=grad-dtype=torch --split-input-file | FileCheck %s --check-prefix=TORCH
// RUN: weft-opt %s --weft-autodiff=accumulation=off --split-input-file | FileCheck %s --check-prefix=F32-OFF
// RUN: weft-opt %s --weft-autodiff="grad-dtype=torch accumulation=off" --split-input-file | FileCheck %s --check-prefix=TORCH-OFF

// A weight that two products use, a bias and a table, each cast once.
//
// f32: products, sums of rows and of table rows go to the accumulators in f32.
// F32: weft.state @w.grad : tensor<4x4xf32>
// F32-LABEL: weft.program @micro
// F32-SAME: %[[G:[^ ]*]]: tensor<3x4xf16> {weft.input = "loss_seed"}, %[[FLAG:[^ ]*]]: tensor<f32>
// F32: %[[W:.*]] = weft.cast %{{.*}} : tensor<4x4xf32> to tensor<4x4xf16>
// F32: %[[R:.*]] = weft.embedding
// F32: %[[Y:.*]] = weft.matmul %[[R]]
// F32: %[[DY:.*]] = weft.matmul %[[G]], %[[W]] : tensor<3x4xf16>, tensor<4x4xf16>
// F32-NEXT: %[[DW1:.*]] = weft.matmul %[[G]], %[[Y]] {out = f32, transpose_lhs} : tensor<3x4xf16>, tensor<3x4xf16>
// F32-NEXT: %[[OLD:.*]] = weft.read @w.grad
// F32-NEXT: %[[ACC:.*]] = weft.accumulate %[[OLD]], %[[DW1]], %[[FLAG]] : tensor<4x4xf32>
// F32-NEXT: %[[DR:.*]] = weft.matmul %[[DY]], %[[W]] : tensor<3x4xf16>, tensor<4x4xf16>
// F32-NEXT: %[[DW2:.*]] = weft.matmul %[[DY]], %[[R]] {out = f32, transpose_lhs} : tensor<3x4xf16>, tensor<3x4xf16>
// F32-NEXT: %[[ONE:.*]] = weft.constant dense<1.000000e+00>
// F32-NEXT: weft.accumulate %[[ACC]], %[[DW2]], %[[ONE]]
// F32-NEXT: %[[WIDE:.*]] = weft.cast %[[DY]] : tensor<3x4xf16> to tensor<3x4xf32>
// F32-NEXT: %[[DB:.*]] = weft.reduce sum %[[WIDE]] dims [0] : tensor<3x4xf32>
// F32: weft.accumulate %{{.*}}, %[[DB]], %[[FLAG]]
// F32-NEXT: %[[DE:.*]] = weft.embedding_grad %[[DR]], %{{.*}} : tensor<3x4xf16>, tensor<3xi32> to tensor<5x4xf32>
// F32: weft.accumulate %{{.*}}, %[[DE]], %[[FLAG]]
// F32: weft.return
//
// torch: gradients of the uses are added in f16 and cast once.
// TORCH: weft.state @w.grad : tensor<4x4xf32>
// TORCH-LABEL: weft.program @micro
// TORCH-SAME: %[[FLAG:[^ ]*]]: tensor<f32> {weft.input = "accumulate"}
// TORCH: %[[DW1:.*]] = weft.matmul %{{.*}} {transpose_lhs} : tensor<3x4xf16>, tensor<3x4xf16>
// TORCH: %[[DW2:.*]] = weft.matmul %{{.*}} {transpose_lhs} : tensor<3x4xf16>, tensor<3x4xf16>
// TORCH-NEXT: %[[SUM:.*]] = weft.add %[[DW1]], %[[DW2]] : tensor<4x4xf16>, tensor<4x4xf16>
// TORCH-NEXT: %[[CAST:.*]] = weft.cast %[[SUM]] : tensor<4x4xf16> to tensor<4x4xf32>
// TORCH-NEXT: %[[OLD:.*]] = weft.read @w.grad
// TORCH-NEXT: weft.accumulate %[[OLD]], %[[CAST]], %[[FLAG]]
// TORCH-NEXT: %[[DB:.*]] = weft.reduce sum %{{.*}} dims [0] : tensor<3x4xf16>
// TORCH-NEXT: weft.cast %[[DB]] : tensor<4xf16> to tensor<4xf32>
// TORCH: weft.embedding_grad %{{.*}} to tensor<5x4xf16>
//
// Without accumulation the states are written with the sums.
// F32-OFF: weft.state @w.grad : tensor<4x4xf32>
// F32-OFF-LABEL: weft.program @micro
// F32-OFF-NOT: weft.accumulate
// F32-OFF-NOT: weft.read @w.grad
// F32-OFF: %[[DW1:.*]] = weft.matmul %{{.*}} {out = f32, transpose_lhs}
// F32-OFF: %[[DW2:.*]] = weft.matmul %{{.*}} {out = f32, transpose_lhs}
// F32-OFF-NEXT: %[[SUM:.*]] = weft.add %[[DW1]], %[[DW2]] : tensor<4x4xf32>, tensor<4x4xf32>
// F32-OFF: weft.return %{{.*}} writes @w.grad = %[[SUM]] : tensor<4x4xf32>
//
// And with torch they are f16.
// TORCH-OFF: weft.state @w.grad : tensor<4x4xf16>
// TORCH-OFF: weft.state @b.grad : tensor<4xf16>
// TORCH-OFF: weft.state @e.grad : tensor<5x4xf16>
// TORCH-OFF-LABEL: weft.program @micro
// TORCH-OFF-NOT: weft.accumulate
// TORCH-OFF: %[[SUM:.*]] = weft.add %{{.*}} : tensor<4x4xf16>, tensor<4x4xf16>
// TORCH-OFF-NOT: to tensor<4x4xf32>
// TORCH-OFF: weft.return %{{.*}} writes @w.grad = %[[SUM]] : tensor<4x4xf16>
weft.param @w : tensor<4x4xf32>
weft.param @b : tensor<4xf32>
weft.param @e : tensor<5x4xf32>
weft.program @micro(%ids: tensor<3xi32> {weft.input = "ids"}, %g: tensor<3x4xf16> {weft.input = "loss_seed"},
                    %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x4xf16> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4x4xf32>
  %wl = weft.cast %w : tensor<4x4xf32> to tensor<4x4xf16>
  %b = weft.read @b : tensor<4xf32>
  %bl = weft.cast %b : tensor<4xf32> to tensor<4xf16>
  %e = weft.read @e : tensor<5x4xf32>
  %el = weft.cast %e : tensor<5x4xf32> to tensor<5x4xf16>
  %r = weft.embedding %el, %ids : tensor<5x4xf16>, tensor<3xi32>
  %y = weft.matmul %r, %wl bias %bl : tensor<4xf16> {transpose_rhs} : tensor<3x4xf16>, tensor<4x4xf16>
  %z = weft.matmul %y, %wl {transpose_rhs} : tensor<3x4xf16>, tensor<4x4xf16>
  weft.return %z : tensor<3x4xf16>
}

// -----

// Views of a copy: the gradients of slices are computed in f32 and joined there.
// Values that a rule computed in f32 anyway are not rounded; others are cast.
//
// F32-LABEL: weft.program @micro
// F32: weft.rms_norm
// F32: %[[WIDE:.*]] = weft.cast %{{.*}} : tensor<2x3xf16> to tensor<2x3xf32>
// F32-NEXT: weft.read @s.grad
// F32-NEXT: weft.accumulate %{{.*}}, %[[WIDE]]
// F32: %[[DN:.*]] = weft.reduce sum %{{.*}} dims [0] : tensor<2x3xf32>
// F32-NEXT: weft.read @n.grad
// F32: weft.accumulate %{{.*}}, %[[DN]]
// F32: %[[B:.*]] = weft.matmul %{{.*}} {out = f32, transpose_lhs} : tensor<2x4xf16>, tensor<2x3xf16>
// F32: %[[A:.*]] = weft.matmul %{{.*}} {out = f32, transpose_lhs} : tensor<2x4xf16>, tensor<2x3xf16>
// F32: %[[D:.*]] = weft.concat %[[A]], %[[B]] {dim = 1 : i64} : tensor<4x3xf32>, tensor<4x3xf32>
// F32: weft.accumulate %{{.*}}, %[[D]]
weft.param @w : tensor<4x6xf32>
weft.param @n : tensor<3xf32>
weft.param @s : tensor<2x3xf32>
weft.program @micro(%x: tensor<2x4xf16> {weft.input = "x"}, %g: tensor<2x3xf16> {weft.input = "loss_seed"},
                    %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3xf16> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4x6xf32>
  %wl = weft.cast %w : tensor<4x6xf32> to tensor<4x6xf16>
  %n = weft.read @n : tensor<3xf32>
  %nl = weft.cast %n : tensor<3xf32> to tensor<3xf16>
  %s = weft.read @s : tensor<2x3xf32>
  %sl = weft.cast %s : tensor<2x3xf32> to tensor<2x3xf16>
  %q = weft.slice %wl offsets [0, 0] sizes [4, 3] strides [1, 1] : tensor<4x6xf16>
  %k = weft.slice %wl offsets [0, 3] sizes [4, 3] strides [1, 1] : tensor<4x6xf16>
  %a = weft.matmul %x, %q : tensor<2x4xf16>, tensor<4x3xf16>
  %b = weft.matmul %x, %k : tensor<2x4xf16>, tensor<4x3xf16>
  %c = weft.mul %a, %b : tensor<2x3xf16>, tensor<2x3xf16>
  %r, %rstd = weft.rms_norm %c, %nl {eps = 1.0e-5 : f64} : tensor<2x3xf16>, tensor<3xf16>
  %y = weft.mul %r, %sl : tensor<2x3xf16>, tensor<2x3xf16>
  weft.return %y : tensor<2x3xf16>
}

// -----

// A gradient that others use too is computed once: it is cast. A parameter that
// is used in f32 as well has an f32 gradient in every mode.
//
// F32-LABEL: weft.program @micro
// F32: %[[D:.*]] = weft.matmul %{{.*}} {transpose_rhs} : tensor<2x3xf16>, tensor<4x3xf16>
// F32-NOT: out = f32
// F32: weft.cast %[[D]] : tensor<2x4xf16> to tensor<2x4xf32>
// TORCH-OFF: weft.state @w.grad : tensor<2x4xf32>
weft.param @w : tensor<2x4xf32>
weft.program @micro(%x: tensor<4x3xf16> {weft.input = "x"}, %g: tensor<2x3xf16> {weft.input = "loss_seed"},
                    %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3xf16> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<2x4xf32>
  %e = weft.exp %w : tensor<2x4xf32>
  %el = weft.cast %e : tensor<2x4xf32> to tensor<2x4xf16>
  %wl = weft.cast %w : tensor<2x4xf32> to tensor<2x4xf16>
  %s = weft.add %el, %wl : tensor<2x4xf16>, tensor<2x4xf16>
  %y = weft.matmul %s, %x : tensor<2x4xf16>, tensor<4x3xf16>
  weft.return %y : tensor<2x3xf16>
}

// -----

// A parameter that is f16 itself.
// F32: weft.state @w.grad : tensor<4x3xf32>
// F32-LABEL: weft.program @micro
// F32: %[[D:.*]] = weft.matmul %{{.*}} {out = f32, transpose_lhs}
// F32: weft.accumulate %{{.*}}, %[[D]]
// TORCH: weft.state @w.grad : tensor<4x3xf16>
// TORCH: weft.accumulate %{{.*}} : tensor<4x3xf16>
// TORCH-OFF: weft.state @w.grad : tensor<4x3xf16>
weft.param @w : tensor<4x3xf16>
weft.program @micro(%x: tensor<2x4xf16> {weft.input = "x"}, %g: tensor<2x3xf16> {weft.input = "loss_seed"},
                    %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x3xf16> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4x3xf16>
  %y = weft.matmul %x, %w : tensor<2x4xf16>, tensor<4x3xf16>
  weft.return %y : tensor<2x3xf16>
}

// -----

// A tied table: the gradient of the head is there first and is added first,
// though the cast of the table stands before the embedding.
//
// F32-LABEL: weft.program @micro
// F32: %[[HEAD:.*]] = weft.matmul %{{.*}} {out = f32, transpose_lhs}
// F32-NEXT: %[[OLD:.*]] = weft.read @w.grad
// F32-NEXT: %[[ACC:.*]] = weft.accumulate %[[OLD]], %[[HEAD]]
// F32: %[[ROWS:.*]] = weft.embedding_grad
// F32: weft.accumulate %[[ACC]], %[[ROWS]]
weft.param @w : tensor<5x4xf32>
weft.program @micro(%ids: tensor<3xi32> {weft.input = "ids"}, %g: tensor<3x5xf16> {weft.input = "loss_seed"},
                    %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<3x5xf16> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<5x4xf32>
  %wl = weft.cast %w : tensor<5x4xf32> to tensor<5x4xf16>
  %r = weft.embedding %w, %ids : tensor<5x4xf32>, tensor<3xi32>
  %rl = weft.cast %r : tensor<3x4xf32> to tensor<3x4xf16>
  %y = weft.matmul %rl, %wl {transpose_rhs} : tensor<3x4xf16>, tensor<5x4xf16>
  weft.return %y : tensor<3x5xf16>
}
