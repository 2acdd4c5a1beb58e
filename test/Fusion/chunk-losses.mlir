// RUN: weft-opt %s --weft-chunk-losses=chunks=3 -o %t.chunks.mlir
// RUN: FileCheck %s --input-file=%t.chunks.mlir
// RUN: weft-interp --compare %s %t.chunks.mlir --mode=f64 --inputs random:1 --tolerance 1e-12
// RUN: weft-opt %s --weft-chunk-losses=chunks=8 -o %t.rows.mlir
// RUN: weft-interp --compare %s %t.rows.mlir --mode=f64 --inputs random:2 --tolerance 1e-12
// RUN: weft-opt %s --weft-chunk-losses=chunks=5 | FileCheck %s --check-prefix=FIVE
// RUN: weft-opt %s > %t.same.mlir
// RUN: weft-opt %s --weft-chunk-losses=chunks=1 | diff %t.same.mlir -
// The product of the logits, their losses and adjoints, chunk by chunk.

// The divisors come first, and the gradient of the loss. A chunk's logits are
// used before the next chunk's exist; the weight's gradient is added up.
// CHECK-LABEL: weft.program @tied(
// CHECK: %[[S:.*]] = weft.mul %arg3, %arg3
// CHECK: %[[N:.*]] = weft.reduce sum
// CHECK: %[[H:.*]] = weft.reshape %arg0 : tensor<2x4x4xf32> to tensor<8x4xf32>
// CHECK: %[[SCALE:.*]] = weft.div %[[S]], %[[N]]
// CHECK: %[[ONE:.*]] = weft.constant dense<1.0
// CHECK: %[[H0:.*]] = weft.slice %[[H]] offsets [0, 0] sizes [2, 4]
// CHECK-NEXT: %[[X0:.*]] = weft.matmul %[[H0]], %arg1 {transpose_rhs}
// CHECK-NEXT: %[[T0:.*]] = weft.slice %{{.*}} offsets [0] sizes [2]
// CHECK-NEXT: %[[L0:loss.*]], %[[LSE0:.*]], %[[D0:.*]] = weft.cross_entropy %[[X0]], %[[T0]] {ignore_index = 3 : i64, reduction = #weft.loss_reduction<sum>}
// CHECK: %[[A0:.*]] = weft.accuracy %[[X0]],
// CHECK-NEXT: %[[G0:.*]] = weft.cross_entropy_grad %[[SCALE]], %[[X0]], %[[T0]], %[[LSE0]], %[[D0]]
// CHECK-NEXT: %[[W0:.*]] = weft.matmul %[[G0]], %[[H0]] {transpose_lhs}
// CHECK-NEXT: %[[ACC0:.*]] = weft.accumulate %arg4, %[[W0]], %arg5
// CHECK-NEXT: %[[I0:.*]] = weft.matmul %[[G0]], %arg1
// CHECK: %[[L1:loss.*]], %{{.*}}, %{{.*}} = weft.cross_entropy
// CHECK-NEXT: weft.add %[[L0]], %[[L1]]
// CHECK: weft.accumulate %[[ACC0]], %{{.*}}, %[[ONE]]
// CHECK: weft.slice %[[H]] offsets [5, 0] sizes [3, 4]
// CHECK: %[[ACC:.*]] = weft.accumulate %{{.*}}, %{{.*}}, %[[ONE]]
// CHECK: %[[I:.*]] = weft.concat %[[I0]], %{{.*}}, %{{.*}} {dim = 0 : i64}
// CHECK-NEXT: %[[DH:.*]] = weft.reshape %[[I]] : tensor<8x4xf32> to tensor<2x4x4xf32>
// CHECK-NEXT: weft.div %{{.*}}, %[[N]]
// CHECK: weft.return %{{.*}}, %[[DH]], %[[ACC]]
weft.program @tied(%h: tensor<2x4x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<2x4xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"}, %old: tensor<16x4xf32> {weft.input = "old"}, %flag: tensor<f32> {weft.input = "flag"})
    -> (tensor<f32> {weft.output = "l"}, tensor<2x4x4xf32> {weft.output = "d"}, tensor<16x4xf32> {weft.output = "n"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<2x4x4xf32>, tensor<16x4xf32>
  %l, %lse, %n = weft.cross_entropy %x, %t {ignore_index = 3} : tensor<2x4x16xf32>, tensor<2x4xi32>
  %a = weft.accuracy %x, %t : tensor<2x4x16xf32>, tensor<2x4xi32>
  %la = weft.add %l, %a : tensor<f32>, tensor<f32>
  %s = weft.mul %g, %g : tensor<f32>, tensor<f32>
  %d = weft.cross_entropy_grad %s, %x, %t, %lse, %n {ignore_index = 3} : tensor<f32>, tensor<2x4x16xf32>, tensor<2x4xi32>, tensor<2x4xf32>
  %dh = weft.matmul %d, %w : tensor<2x4x16xf32>, tensor<16x4xf32>
  %h2 = weft.reshape %h : tensor<2x4x4xf32> to tensor<8x4xf32>
  %d2 = weft.reshape %d : tensor<2x4x16xf32> to tensor<8x16xf32>
  %dw = weft.matmul %d2, %h2 {transpose_lhs} : tensor<8x16xf32>, tensor<8x4xf32>
  %acc = weft.accumulate %old, %dw, %flag : tensor<16x4xf32>
  weft.return %la, %dh, %acc : tensor<f32>, tensor<2x4x4xf32>, tensor<16x4xf32>
}

// A matrix of the other orientation, class weights and smoothed labels; the
// weight's gradient has no accumulator, and in bf16 it is rounded once.
// CHECK-LABEL: weft.program @low(
// CHECK: %[[P0:.*]] = weft.matmul %{{.*}}, %{{.*}} {out = f32, transpose_lhs} : tensor<2x4xbf16>, tensor<2x16xbf16>
// CHECK: %[[P1:.*]] = weft.matmul %{{.*}}, %{{.*}} {out = f32, transpose_lhs}
// CHECK-NEXT: %[[P:.*]] = weft.accumulate %[[P0]], %[[P1]]
// CHECK: weft.cast %{{.*}} : tensor<4x16xf32> to tensor<4x16xbf16>
weft.program @low(%h: tensor<8x4xbf16> {weft.input = "h"}, %w: tensor<4x16xbf16> {weft.input = "w"}, %t: tensor<8xi64> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"}, %c: tensor<16xf32> {weft.input = "c"})
    -> (tensor<f32> {weft.output = "l"}, tensor<8x4xbf16> {weft.output = "d"}, tensor<4x16xbf16> {weft.output = "n"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w : tensor<8x4xbf16>, tensor<4x16xbf16>
  %l, %lse, %n = weft.cross_entropy %x, %t weight %c : tensor<16xf32> {label_smoothing = 0.1 : f64} : tensor<8x16xbf16>, tensor<8xi64>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n weight %c : tensor<16xf32> {label_smoothing = 0.1 : f64} : tensor<f32>, tensor<8x16xbf16>, tensor<8xi64>, tensor<8xf32>
  %dh = weft.matmul %d, %w {transpose_rhs} : tensor<8x16xbf16>, tensor<4x16xbf16>
  %dw = weft.matmul %h, %d {transpose_lhs} : tensor<8x4xbf16>, tensor<8x16xbf16>
  weft.return %l, %dh, %dw : tensor<f32>, tensor<8x4xbf16>, tensor<4x16xbf16>
}

// Without adjoints. There are as many chunks as the option says.
// FIVE-LABEL: weft.program @forward(
// FIVE: weft.cross_entropy {{.*}} tensor<1x16xf32>
// FIVE: weft.cross_entropy {{.*}} tensor<2x16xf32>
// FIVE: weft.cross_entropy {{.*}} tensor<1x16xf32>
// FIVE-COUNT-2: weft.cross_entropy {{.*}} tensor<2x16xf32>
// FIVE: weft.return
// CHECK-LABEL: weft.program @forward(
// CHECK-COUNT-3: weft.cross_entropy {{.*}} tensor<{{[23]}}x16xf32>
// CHECK-NOT: weft.cross_entropy
weft.program @forward(%h: tensor<8x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"})
    -> (tensor<f32> {weft.output = "l"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<8x16xf32>, tensor<8xi32>
  weft.return %l : tensor<f32>
}

// Two losses of the same logits, one of them with an adjoint: one head.
// CHECK-LABEL: weft.program @two(
// CHECK-COUNT-2: weft.cross_entropy {{.*}} tensor<2x16xf32>
// CHECK: weft.cross_entropy_grad {{.*}} tensor<2x16xf32>
// CHECK-COUNT-2: weft.cross_entropy {{.*}} tensor<3x16xf32>
// CHECK: weft.cross_entropy_grad
// CHECK-COUNT-2: weft.cross_entropy {{.*}} tensor<3x16xf32>
// CHECK: weft.cross_entropy_grad
// CHECK-NOT: weft.cross_entropy
// CHECK: weft.return
weft.program @two(%h: tensor<8x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"})
    -> (tensor<f32> {weft.output = "l"}, tensor<f32> {weft.output = "m"}, tensor<16x4xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<8x16xf32>, tensor<8xi32>
  %m, %lse2, %n2 = weft.cross_entropy %x, %t {ignore_index = 3} : tensor<8x16xf32>, tensor<8xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse2, %n2 {ignore_index = 3} : tensor<f32>, tensor<8x16xf32>, tensor<8xi32>, tensor<8xf32>
  %dw = weft.matmul %d, %h {transpose_lhs} : tensor<8x16xf32>, tensor<8x4xf32>
  weft.return %l, %m, %dw : tensor<f32>, tensor<f32>, tensor<16x4xf32>
}

// Classes' weights and the divisor of the adjoint, behind the loss, move in
// front of it.
// CHECK-LABEL: weft.program @behind(
// CHECK: weft.mul %arg4, %arg4
// CHECK: weft.mul %arg5, %arg5
// CHECK: weft.mul %arg2, %arg2
// CHECK-COUNT-3: weft.cross_entropy_grad
weft.program @behind(%h: tensor<8x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"}, %q: tensor<f32> {weft.input = "q"}, %c: tensor<16xf32> {weft.input = "c"})
    -> (tensor<f32> {weft.output = "l"}, tensor<f32> {weft.output = "m"}, tensor<16x4xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
  %l, %lse, %n = weft.cross_entropy %x, %t {reduction = #weft.loss_reduction<sum>} : tensor<8x16xf32>, tensor<8xi32>
  %z = weft.mul %q, %q : tensor<f32>, tensor<f32>
  %c2 = weft.mul %c, %c : tensor<16xf32>, tensor<16xf32>
  %t2 = weft.mul %t, %t : tensor<8xi32>, tensor<8xi32>
  %m, %lse2, %n2 = weft.cross_entropy %x, %t2 weight %c2 : tensor<16xf32> : tensor<8x16xf32>, tensor<8xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %z {reduction = #weft.loss_reduction<sum>} : tensor<f32>, tensor<8x16xf32>, tensor<8xi32>, tensor<8xf32>
  %dw = weft.matmul %d, %h {transpose_lhs} : tensor<8x16xf32>, tensor<8x4xf32>
  weft.return %l, %m, %dw : tensor<f32>, tensor<f32>, tensor<16x4xf32>
}

// Products of f64 have no wider result.
// CHECK-LABEL: weft.program @wide(
// CHECK-COUNT-3: weft.matmul %{{.*}}, %{{.*}} {transpose_lhs} : tensor<{{[23]}}x16xf64>
weft.program @wide(%h: tensor<8x4xf64> {weft.input = "h"}, %w: tensor<16x4xf64> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"}, %g: tensor<f64> {weft.input = "g"})
    -> (tensor<f64> {weft.output = "l"}, tensor<16x4xf64> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf64>, tensor<16x4xf64>
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<8x16xf64>, tensor<8xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n : tensor<f64>, tensor<8x16xf64>, tensor<8xi32>, tensor<8xf64>
  %dw = weft.matmul %d, %h {transpose_lhs} : tensor<8x16xf64>, tensor<8x4xf64>
  weft.return %l, %dw : tensor<f64>, tensor<16x4xf64>
}

// The input of the product may be computed again for the weight's gradient.
// CHECK-LABEL: weft.program @again(
// CHECK: weft.matmul %{{.*}}, %{{.*}} {out = f32, transpose_lhs} : tensor<2x16xbf16>, tensor<2x4xbf16>
// CHECK-COUNT-2: weft.accumulate
weft.program @again(%h: tensor<2x4x4xf32> {weft.input = "h"}, %w: tensor<16x4xbf16> {weft.input = "w"}, %t: tensor<2x4xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"})
    -> (tensor<f32> {weft.output = "l"}, tensor<16x4xbf16> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %n = weft.mul %h, %h : tensor<2x4x4xf32>, tensor<2x4x4xf32>
  %c = weft.cast %n {weft.scope = "head"} : tensor<2x4x4xf32> to tensor<2x4x4xbf16>
  %x = weft.matmul %c, %w {transpose_rhs} : tensor<2x4x4xbf16>, tensor<16x4xbf16>
  %l, %lse, %denom = weft.cross_entropy %x, %t : tensor<2x4x16xbf16>, tensor<2x4xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %denom : tensor<f32>, tensor<2x4x16xbf16>, tensor<2x4xi32>, tensor<2x4xf32>
  %m = weft.mul %h, %h : tensor<2x4x4xf32>, tensor<2x4x4xf32>
  %e = weft.cast %m : tensor<2x4x4xf32> to tensor<2x4x4xbf16>
  %rows = weft.reshape %e : tensor<2x4x4xbf16> to tensor<8x4xbf16>
  %d2 = weft.reshape %d : tensor<2x4x16xbf16> to tensor<8x16xbf16>
  %dw = weft.matmul %d2, %rows {transpose_lhs} : tensor<8x16xbf16>, tensor<8x4xbf16>
  weft.return %l, %dw : tensor<f32>, tensor<16x4xbf16>
}
