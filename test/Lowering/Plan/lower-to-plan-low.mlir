// RUN: weft-opt %s --weft-select-kernels="library=interpreter epilogues=false" --weft-decompose --weft-fuse --weft-lower-to-plan --split-input-file | FileCheck %s
// Values of f16 or bf16 keep their type in buffers.

// Bias is added by the routine, before the one rounding.
// CHECK-LABEL: plan.program "eval" @product
// CHECK-DAG: %[[X:.*]] = plan.input "x"
// CHECK-DAG: %[[B:.*]] = plan.input "b"
// CHECK: plan.gemm %[[X]] * %{{.*}} transposed -> %{{.*}} bias(%[[B]] : memref<5xbf16>) {{.*}} -> memref<2x4x5xbf16>
// CHECK: plan.gemm {{.*}} transposed -> %{{.*}} : memref<2x4x6xbf16> * memref<5x6xbf16> -> memref<2x4x5xf32>
weft.program @product(%x: tensor<2x4x6xbf16> {weft.input = "x"}, %w: tensor<5x6xbf16> {weft.input = "w"}, %b: tensor<5xbf16> {weft.input = "b"})
    -> (tensor<2x4x5xbf16> {weft.output = "y"}, tensor<2x4x5xf32> {weft.output = "z"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.matmul %x, %w bias %b : tensor<5xbf16> {transpose_rhs} : tensor<2x4x6xbf16>, tensor<5x6xbf16>
  %z = weft.matmul %x, %w {transpose_rhs, out = f32} : tensor<2x4x6xbf16>, tensor<5x6xbf16>
  weft.return %y, %z : tensor<2x4x5xbf16>, tensor<2x4x5xf32>
}

// -----

// CHECK-LABEL: plan.program "eval" @bias_of_f32
// CHECK: plan.gemm %{{.*}} * %{{.*}} -> %{{.*}} bias(%{{.*}} : memref<5xf32>) {{.*}} -> memref<4x5xf32>
weft.program @bias_of_f32(%x: tensor<4x6xf32> {weft.input = "x"}, %w: tensor<6x5xf32> {weft.input = "w"}, %b: tensor<5xf32> {weft.input = "b"})
    -> (tensor<4x5xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.matmul %x, %w bias %b : tensor<5xf32> : tensor<4x6xf32>, tensor<6x5xf32>
  weft.return %y : tensor<4x5xf32>
}

// -----

// CHECK-LABEL: plan.program "micro" @model_ops
// CHECK: plan.embedding {{.*}} : memref<16x4xf16>[memref<8xi32>] -> memref<8x4xf16>
// CHECK: plan.attention {{.*}} {causal, {{.*}} -> memref<1x8x2x2xf16>, memref<1x2x8xf32>
// CHECK: plan.attention_grad {{.*}} -> memref<1x8x2x2xf16>, memref<1x8x2x2xf16>, memref<1x8x2x2xf16>
// CHECK: plan.embedding_grad {{.*}} -> %{{[0-9]+}} : memref<{{.*}}4xf16>[memref<{{.*}}8xi32>] -> memref<16x4xf32>
weft.program @model_ops(%w: tensor<16x4xf16> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"})
    -> (tensor<16x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<micro>} {
  %e = weft.embedding %w, %t : tensor<16x4xf16>, tensor<8xi32>
  %q = weft.reshape %e : tensor<8x4xf16> to tensor<1x8x2x2xf16>
  %o, %lse = weft.attention %q, %q, %q {causal, scale = 0.5 : f64} : tensor<1x8x2x2xf16>, tensor<1x8x2x2xf16>, tensor<1x8x2x2xf16>
  %dq, %dk, %dv = weft.attention_grad %o, %q, %q, %q, %o, %lse {causal, scale = 0.5 : f64} : tensor<1x8x2x2xf16>, tensor<1x8x2x2xf16>, tensor<1x2x8xf32>
  %g = weft.reshape %dq : tensor<1x8x2x2xf16> to tensor<8x4xf16>
  %y = weft.embedding_grad %g, %t : tensor<8x4xf16>, tensor<8xi32> to tensor<16x4xf32>
  weft.return %y : tensor<16x4xf32>
}

// -----

// Arithmetic of causal attention: 64 x 64, 64 x 128 and 6 x 134 pairs of queries and
// keys, 13092 in all; for each of them 2 or 5 products of 16 multiply-adds, with dropout
// 128 more where numbers are drawn, and nothing where stored bits are read. Of the last
// query alone there are 134 pairs.

// CHECK-LABEL: plan.program "micro" @causal
// CHECK: plan.attention {{.*}}flops = 837888 :
// CHECK: plan.attention_grad {{.*}}flops = 2094720 :
// CHECK: plan.attention {{.*}}dropout{{.*}}flops = 2513664 :
// CHECK: plan.attention_grad {{.*}}rng({{.*}}flops = 3770496 :
// CHECK: plan.attention {{.*}}bits({{.*}}flops = 2513664 :
// CHECK: plan.attention_grad {{.*}}bits({{.*}}flops = 2094720 :
// CHECK: plan.attention {{.*}}flops = 8576 :
weft.program @causal(%q: tensor<1x134x1x16xf32> {weft.input = "q"}, %last: tensor<1x1x1x16xf32> {weft.input = "last"},
    %rng: tensor<2xi64> {weft.input = "rng"})
    -> (tensor<1x134x1x16xf32> {weft.output = "a"}, tensor<1x134x1x16xf32> {weft.output = "b"}, tensor<1x1x1x16xf32> {weft.output = "c"})
    attributes {kind = #weft.kind<micro>} {
  %o, %lse = weft.attention %q, %q, %q {causal, scale = 0.5 : f64} : tensor<1x134x1x16xf32>, tensor<1x134x1x16xf32>, tensor<1x134x1x16xf32>
  %dq, %dk, %dv = weft.attention_grad %o, %q, %q, %q, %o, %lse {causal, scale = 0.5 : f64} : tensor<1x134x1x16xf32>, tensor<1x134x1x16xf32>, tensor<1x1x134xf32>
  %d, %dlse = weft.attention %q, %q, %q rng %rng : tensor<2xi64> {causal, scale = 0.5 : f64, dropout = 0.1 : f64, op_id = 3 : i64} : tensor<1x134x1x16xf32>, tensor<1x134x1x16xf32>, tensor<1x134x1x16xf32>
  %eq, %ek, %ev = weft.attention_grad %dq, %q, %q, %q, %d, %dlse rng %rng : tensor<2xi64> {causal, scale = 0.5 : f64, dropout = 0.1 : f64, op_id = 3 : i64} : tensor<1x134x1x16xf32>, tensor<1x134x1x16xf32>, tensor<1x1x134xf32>
  %s, %slse, %bits = weft.attention %eq, %q, %q rng %rng : tensor<2xi64> {causal, scale = 0.5 : f64, dropout = 0.1 : f64, op_id = 4 : i64, stores_bits} : tensor<1x134x1x16xf32>, tensor<1x134x1x16xf32>, tensor<1x134x1x16xf32>
  %fq, %fk, %fv = weft.attention_grad %dq, %eq, %q, %q, %s, %slse bits %bits : tensor<1x1x12x3x32xi32> {causal, scale = 0.5 : f64, dropout = 0.1 : f64, op_id = 4 : i64} : tensor<1x134x1x16xf32>, tensor<1x134x1x16xf32>, tensor<1x1x134xf32>
  %l, %llse = weft.attention %last, %q, %q {causal, scale = 0.5 : f64} : tensor<1x1x1x16xf32>, tensor<1x134x1x16xf32>, tensor<1x134x1x16xf32>
  weft.return %fq, %d, %l : tensor<1x134x1x16xf32>, tensor<1x134x1x16xf32>, tensor<1x1x1x16xf32>
}

// -----

// A low gradient, a low copy of the new parameter (written in the bytes of its
// state), and the loss scale of the next step in place of the old one.
weft.param @p : tensor<4xf32>
weft.state @m : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @p}
weft.state @p.bf16 : tensor<4xbf16> {kind = #weft.state_kind<working>, param = @p}
weft.state @loss_scale : tensor<f32> {kind = #weft.state_kind<scaler>}
weft.state @loss_scale.state : tensor<3xi64> {kind = #weft.state_kind<scaler>}
// CHECK-LABEL: plan.program "apply" @apply
// CHECK-DAG: %[[P:.*]] = plan.use @p : memref<4xf32>
// CHECK-DAG: %[[COPY:.*]] = plan.use @p.bf16
// CHECK-DAG: %[[SCALE:.*]] = plan.use @loss_scale : memref<f32>
// CHECK-DAG: %[[M:.*]] = plan.use @m
// CHECK-NOT: plan.copy
// CHECK: plan.launch {{.*}} outs(%[[P]], %[[M]], %[[COPY]] : memref<4xf32>, memref<4xf32>, memref<4xbf16>)
// CHECK: plan.launch {{.*}} outs(%[[SCALE]], %[[END:[0-9]+]], %{{.*}} : memref<f32>, memref<i1>, memref<i64>,
// CHECK-NOT: plan.copy
// CHECK: plan.output "scale_exhausted" %[[END]]
weft.program @apply(%g: tensor<4xbf16> {weft.input = "g"}, %h: tensor<4xf32> {weft.input = "h"}, %step: tensor<i64> {weft.input = "step"}, %lr: tensor<f64> {weft.input = "lr"})
    -> (tensor<i1> {weft.output = "scale_exhausted"}) attributes {kind = #weft.kind<apply>} {
  %p = weft.read @p : tensor<4xf32>
  %m = weft.read @m : tensor<4xf32>
  %s = weft.read @loss_scale : tensor<f32>
  %st = weft.read @loss_scale.state : tensor<3xi64>
  %n, %bad = weft.norm_and_check %g, %h {p = 2.0 : f64} : tensor<4xbf16>, tensor<4xf32>
  %norm = weft.total_norm %n skip %bad scale %s {p = 2.0 : f64}
  %c = weft.clip_coefficient %norm, %lr scale %s
  %p1, %m1, %w = weft.sgd(%p, %m, %g, %c, %bad, %step, %lr, %lr, %lr) : (tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>)
  %s1, %st1, %end = weft.scaler_update %s, %st, %bad by #weft.scaler<deepspeed>
  weft.return %end : tensor<i1> writes @p = %p1 : tensor<4xf32>, @m = %m1 : tensor<4xf32>, @p.bf16 = %w : tensor<4xbf16>, @loss_scale = %s1 : tensor<f32>, @loss_scale.state = %st1 : tensor<3xi64>
}
