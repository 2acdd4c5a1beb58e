// RUN: weft-opt --weft-select-kernels="library=interpreter epilogues=false" --weft-decompose --weft-fuse --weft-lower-to-plan --split-input-file %s | FileCheck %s

// A linear layer reads its input flat; a reshape and a slice are views.

weft.param @w : tensor<4x6xf32>
// CHECK-LABEL: plan.program "eval" @linear
weft.program @linear(%x: tensor<2x3x4xf32> {weft.input = "x"}) -> (tensor<6x6xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // CHECK-DAG: %[[X:.*]] = plan.input "x" : memref<2x3x4xf32>
  // CHECK-DAG: %[[W:.*]] = plan.use @w : memref<4x6xf32>
  %w = weft.read @w : tensor<4x6xf32>
  // CHECK: %[[Y:.*]] = plan.alloc temporary : memref<2x3x6xf32>
  // CHECK: %[[V:.*]] = plan.view %[[Y]] : memref<2x3x6xf32> to memref<6x6xf32>
  // CHECK: plan.gemm %[[X]] * %[[W]] -> %[[Y]] {flops = 288 : i64, scope = "h.0"} : memref<2x3x4xf32> * memref<4x6xf32> -> memref<2x3x6xf32>
  %y = weft.matmul %x, %w {weft.scope = "h.0"} : tensor<2x3x4xf32>, tensor<4x6xf32>
  %z = weft.reshape %y : tensor<2x3x6xf32> to tensor<6x6xf32>
  // CHECK: plan.output "y" %[[V]]
  weft.return %z : tensor<6x6xf32>
}

// -----

// Query, key and value are strided parts of one buffer; so are their gradients.

// CHECK-LABEL: plan.program "micro" @attention
weft.program @attention(%qkv: tensor<2x8x12xf32> {weft.input = "qkv"}, %g: tensor<2x8x4xf32> {weft.input = "g"}) -> (tensor<2x8x12xf32> {weft.output = "dqkv"}) attributes {kind = #weft.kind<micro>} {
  // CHECK-NOT: plan.copy
  // CHECK: %[[D:.*]] = plan.alloc temporary : memref<2x8x12xf32>
  // CHECK: %[[DQ:.*]] = plan.view %[[D]] : memref<2x8x12xf32> to memref<2x8x2x2xf32, strided<[96, 12, 2, 1]>>
  // CHECK: plan.attention %
  // CHECK-SAME: : memref<2x8x2x2xf32, strided<[96, 12, 2, 1]>>
  // CHECK-SAME: memref<2x8x2x2xf32, strided<[96, 12, 2, 1], offset: 4>>
  // CHECK-SAME: memref<2x8x2x2xf32, strided<[96, 12, 2, 1], offset: 8>>
  // CHECK-SAME: -> memref<2x8x2x2xf32>, memref<2x2x8xf32>
  %q0 = weft.slice %qkv offsets [0, 0, 0] sizes [2, 8, 4] strides [1, 1, 1] : tensor<2x8x12xf32>
  %k0 = weft.slice %qkv offsets [0, 0, 4] sizes [2, 8, 4] strides [1, 1, 1] : tensor<2x8x12xf32>
  %v0 = weft.slice %qkv offsets [0, 0, 8] sizes [2, 8, 4] strides [1, 1, 1] : tensor<2x8x12xf32>
  %q = weft.reshape %q0 : tensor<2x8x4xf32> to tensor<2x8x2x2xf32>
  %k = weft.reshape %k0 : tensor<2x8x4xf32> to tensor<2x8x2x2xf32>
  %v = weft.reshape %v0 : tensor<2x8x4xf32> to tensor<2x8x2x2xf32>
  %out, %lse = weft.attention %q, %k, %v {causal, scale = 0.5 : f64} : tensor<2x8x2x2xf32>, tensor<2x8x2x2xf32>, tensor<2x8x2x2xf32>
  %dout = weft.reshape %g : tensor<2x8x4xf32> to tensor<2x8x2x2xf32>
  // CHECK: plan.attention_grad {{.*}} -> %[[DQ]]
  %dq, %dk, %dv = weft.attention_grad %dout, %q, %k, %v, %out, %lse {causal, scale = 0.5 : f64} : tensor<2x8x2x2xf32>, tensor<2x8x2x2xf32>, tensor<2x2x8xf32>
  %dq0 = weft.reshape %dq : tensor<2x8x2x2xf32> to tensor<2x8x4xf32>
  %dk0 = weft.reshape %dk : tensor<2x8x2x2xf32> to tensor<2x8x4xf32>
  %dv0 = weft.reshape %dv : tensor<2x8x2x2xf32> to tensor<2x8x4xf32>
  %dqkv = weft.concat %dq0, %dk0, %dv0 {dim = 2} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>
  // CHECK: plan.output "dqkv" %[[D]]
  weft.return %dqkv : tensor<2x8x12xf32>
}

// -----

// Two contributions to one gradient go straight to its state: no temporary of
// its size, and the flag of the first is decided at run time.

weft.param @e : tensor<16x4xf32>
weft.state @e.grad : tensor<16x4xf32> {kind = #weft.state_kind<gradient>, param = @e}
// CHECK-LABEL: plan.program "micro" @tied
weft.program @tied(%d: tensor<8x16xf32> {weft.input = "d"}, %h: tensor<8x4xf32> {weft.input = "h"}, %ids: tensor<8xi32> {weft.input = "tokens"}, %dx: tensor<8x4xf32> {weft.input = "dx"}, %flag: tensor<f32> {weft.input = "accumulate"}) -> () attributes {kind = #weft.kind<micro>} {
  %old = weft.read @e.grad : tensor<16x4xf32>
  // CHECK: %[[G:.*]] = plan.use @e.grad
  // CHECK: %[[F:.*]] = plan.input "accumulate"
  // CHECK-NOT: plan.alloc
  // CHECK: plan.gemm %{{.*}} transposed * %{{.*}} -> %[[G]] accumulate(%[[F]] : memref<f32>) {{.*}} -> memref<16x4xf32>
  // CHECK: plan.embedding_grad {{.*}} -> %[[G]] accumulate : {{.*}} -> memref<16x4xf32>
  %one = weft.constant dense<1.0> : tensor<f32>
  %g1 = weft.matmul %d, %h {transpose_lhs} : tensor<8x16xf32>, tensor<8x4xf32>
  %g2 = weft.embedding_grad %dx, %ids : tensor<8x4xf32>, tensor<8xi32> to tensor<16x4xf32>
  %a1 = weft.accumulate %old, %g1, %flag : tensor<16x4xf32>
  %a2 = weft.accumulate %a1, %g2, %one : tensor<16x4xf32>
  weft.return writes @e.grad = %a2 : tensor<16x4xf32>
}

// -----

// The update runs in place: parameter, moments and step keep their bytes.

weft.param @p : tensor<4x4xf32>
weft.state @p.grad : tensor<4x4xf32> {kind = #weft.state_kind<gradient>, param = @p}
weft.state @p.exp_avg : tensor<4x4xf32> {kind = #weft.state_kind<optimizer>, param = @p}
weft.state @p.exp_avg_sq : tensor<4x4xf32> {kind = #weft.state_kind<optimizer>, param = @p}
weft.state @step : tensor<i64> {kind = #weft.state_kind<optimizer>}
// CHECK: plan.state param @p : memref<4x4xf32>
// CHECK: plan.state optimizer @p.exp_avg : memref<4x4xf32> {param = @p}
// CHECK-LABEL: plan.program "apply" @apply
weft.program @apply(%lr: tensor<f64> {weft.input = "lr"}, %max: tensor<f64> {weft.input = "max_norm"}) -> (tensor<f64> {weft.output = "grad_norm"}, tensor<i1> {weft.output = "found_inf"}) attributes {kind = #weft.kind<apply>} {
  // CHECK-DAG: %[[P:.*]] = plan.use @p :
  // CHECK-DAG: %[[M:.*]] = plan.use @p.exp_avg :
  // CHECK-DAG: %[[V:.*]] = plan.use @p.exp_avg_sq :
  // CHECK-DAG: %[[STEP:.*]] = plan.use @step
  %p = weft.read @p : tensor<4x4xf32>
  %g = weft.read @p.grad : tensor<4x4xf32>
  %m = weft.read @p.exp_avg : tensor<4x4xf32>
  %v = weft.read @p.exp_avg_sq : tensor<4x4xf32>
  %s = weft.read @step : tensor<i64>
  %norm, %bad = weft.norm_and_check %g {p = 2.0 : f64} : tensor<4x4xf32>
  %coef = weft.clip_coefficient %norm, %max
  %s1 = weft.step_increment %s, %bad
  %p1, %m1, %v1 = weft.adamw(%p, %m, %v, %g, %coef, %bad, %s1, %lr, %lr, %lr, %lr, %lr) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
  // CHECK: plan.launch {{.*}} outs(%[[NORM:[0-9]+]], %[[BAD:[0-9]+]], %[[STEP]], %[[P]], %[[M]], %[[V]] :
  // CHECK-NOT: plan.copy
  // CHECK: plan.output "grad_norm" %[[NORM]]
  weft.return %norm, %bad : tensor<f64>, tensor<i1> writes @p = %p1 : tensor<4x4xf32>, @p.exp_avg = %m1 : tensor<4x4xf32>, @p.exp_avg_sq = %v1 : tensor<4x4xf32>, @step = %s1 : tensor<i64>
}

// -----

// Two gradients in segments of one flat state: each product adds in its own
// segment, nothing is copied.
weft.param @b : tensor<40xf32>
weft.state @b.grad : tensor<40xf32> {kind = #weft.state_kind<gradient>, param = @b}
// CHECK-LABEL: plan.program "micro" @bucket
weft.program @bucket(%x: tensor<8x4xf32> {weft.input = "x"}, %g: tensor<8x5xf32> {weft.input = "g"}, %h: tensor<8x4xf32> {weft.input = "h"}, %flag: tensor<f32> {weft.input = "accumulate"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[G:.*]] = plan.use @b.grad : memref<40xf32>
  // CHECK-NOT: plan.copy
  // CHECK: %[[A:.*]] = plan.view %[[G]] : memref<40xf32> to memref<4x5xf32>
  // CHECK: %[[B:.*]] = plan.view %[[G]] : memref<40xf32> to memref<5x4xf32, strided<[4, 1], offset: 20>>
  // CHECK: plan.gemm %{{.*}} transposed * %{{.*}} -> %[[A]] accumulate(
  // CHECK: plan.gemm %{{.*}} transposed * %{{.*}} -> %[[B]] accumulate(
  // CHECK-NOT: plan.copy
  // CHECK-NOT: plan.alloc
  %old = weft.read @b.grad : tensor<40xf32>
  %o0 = weft.slice %old offsets [0] sizes [20] strides [1] : tensor<40xf32>
  %o0m = weft.reshape %o0 : tensor<20xf32> to tensor<4x5xf32>
  %o1 = weft.slice %old offsets [20] sizes [20] strides [1] : tensor<40xf32>
  %o1m = weft.reshape %o1 : tensor<20xf32> to tensor<5x4xf32>
  %w0 = weft.matmul %x, %g {transpose_lhs} : tensor<8x4xf32>, tensor<8x5xf32>
  %w1 = weft.matmul %g, %h {transpose_lhs} : tensor<8x5xf32>, tensor<8x4xf32>
  %a0 = weft.accumulate %o0m, %w0, %flag : tensor<4x5xf32>
  %a1 = weft.accumulate %o1m, %w1, %flag : tensor<5x4xf32>
  %f0 = weft.reshape %a0 : tensor<4x5xf32> to tensor<20xf32>
  %f1 = weft.reshape %a1 : tensor<5x4xf32> to tensor<20xf32>
  %p = weft.concat %f0, %f1 {dim = 0} : tensor<20xf32>, tensor<20xf32>
  weft.return writes @b.grad = %p : tensor<40xf32>
}

// -----

// Kernels and an embedding's gradient write their pieces of a pack.
weft.kernel @k_exp(%a: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [32] inplace [[]] {
  %y = weft.exp %a : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}
// CHECK-LABEL: plan.program "eval" @pack
weft.program @pack(%x: tensor<8x4xf32> {weft.input = "x"}, %i: tensor<8xi32> {weft.input = "ids"}) -> (tensor<72xf32> {weft.output = "p"}) attributes {kind = #weft.kind<eval>} {
  // CHECK: %[[P:.*]] = plan.alloc temporary : memref<72xf32>
  // CHECK: %[[A:.*]] = plan.view %[[P]] : memref<72xf32> to memref<8x4xf32>
  // CHECK: %[[B:.*]] = plan.view %[[P]] : memref<72xf32> to memref<10x4xf32, strided<[4, 1], offset: 32>>
  // CHECK: plan.launch @k_exp ins({{.*}}) outs(%[[A]] : memref<8x4xf32>)
  // CHECK: plan.embedding_grad {{.*}} -> %[[B]] :
  // CHECK-NOT: plan.copy
  // CHECK: plan.output "p" %[[P]]
  %a = weft.call @k_exp(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %b = weft.embedding_grad %x, %i : tensor<8x4xf32>, tensor<8xi32> to tensor<10x4xf32>
  %fa = weft.reshape %a : tensor<8x4xf32> to tensor<32xf32>
  %fb = weft.reshape %b : tensor<10x4xf32> to tensor<40xf32>
  %p = weft.concat %fa, %fb {dim = 0} : tensor<32xf32>, tensor<40xf32>
  weft.return %p : tensor<72xf32>
}

// -----

// A segment that is still read when another is written: only its own hazards
// count.
weft.state @s : tensor<8xf32> {kind = #weft.state_kind<optimizer>}
// CHECK-LABEL: plan.program "apply" @segments
weft.program @segments(%x: tensor<2x2xf32> {weft.input = "x"}) -> (tensor<2x2xf32> {weft.output = "y"}) attributes {kind = #weft.kind<apply>} {
  // CHECK: %[[S:.*]] = plan.use @s
  // CHECK: %[[FIRST:.*]] = plan.view %[[S]] : memref<8xf32> to memref<2x2xf32>
  // CHECK: %[[OLD:.*]] = plan.view %[[S]] : memref<8xf32> to memref<2x2xf32, strided<[2, 1], offset: 4>>
  // CHECK: plan.gemm %{{.*}} * %{{.*}} -> %[[FIRST]] {
  // CHECK: plan.gemm %[[OLD]] * %{{.*}} -> %[[Y:[0-9]+]] {
  // CHECK: plan.copy %{{.*}} to %{{.*}} : memref<4xf32> to memref<4xf32, strided<[1], offset: 4>>
  %old = weft.read @s : tensor<8xf32>
  %h = weft.slice %old offsets [4] sizes [4] strides [1] : tensor<8xf32>
  %hm = weft.reshape %h : tensor<4xf32> to tensor<2x2xf32>
  %a = weft.matmul %x, %x : tensor<2x2xf32>, tensor<2x2xf32>
  // Reads the second segment, so it may not be computed there.
  %y = weft.matmul %hm, %x : tensor<2x2xf32>, tensor<2x2xf32>
  %fa = weft.reshape %a : tensor<2x2xf32> to tensor<4xf32>
  %fy = weft.reshape %y : tensor<2x2xf32> to tensor<4xf32>
  %p = weft.concat %fa, %fy {dim = 0} : tensor<4xf32>, tensor<4xf32>
  weft.return %y : tensor<2x2xf32> writes @s = %p : tensor<8xf32>
}

// -----

// A kernel that takes all of a state may not be computed in a part of it.
weft.state @half : tensor<8xf32> {kind = #weft.state_kind<optimizer>}
weft.kernel @k_half(%a: tensor<8xf32>) -> tensor<4xf32> elementwise [4] inplace [[0]] {
  %s = weft.slice %a offsets [0] sizes [4] strides [1] : tensor<8xf32>
  %y = weft.exp %s : tensor<4xf32>
  weft.yield %y : tensor<4xf32>
}
// CHECK-LABEL: plan.program "apply" @whole_read
weft.program @whole_read(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<apply>} {
  // CHECK: %[[S:.*]] = plan.use @half
  // CHECK: %[[Y:.*]] = plan.alloc temporary : memref<4xf32>
  // CHECK: plan.launch @k_half ins(%[[S]] : memref<8xf32>) outs(%[[Y]] : memref<4xf32>)
  // CHECK: plan.copy %[[Y]] to
  %s = weft.read @half : tensor<8xf32>
  %y = weft.call @k_half(%s) : (tensor<8xf32>) -> tensor<4xf32>
  %c = weft.concat %y, %x {dim = 0} : tensor<4xf32>, tensor<4xf32>
  weft.return writes @half = %c : tensor<8xf32>
}

// -----

// Flat states keep their segments; a parameter in a segment is a view, and a
// gradient is added where it lies.

// CHECK: plan.state param @flat : memref<40xf32> {segments = [#plan.segment<@w [4, 5] at 0 to 20 source "v">, #plan.segment<@u [4, 2] at 24 to 32>]}
weft.param @flat : tensor<40xf32> {segments = [#weft.segment<@w [4, 5] at 0 to 20 source "v">, #weft.segment<@u [4, 2] at 24 to 32>]}
// CHECK: plan.state gradient @shard.grad : memref<20xf32> {param = @flat, segments = [#plan.segment<@w [4, 5] at 0 to 20>, #plan.segment<@u [4, 2] at 24 to 32>], slices = 2 : i64, slot = "grad"}
weft.state @shard.grad : tensor<20xf32> {kind = #weft.state_kind<gradient>, param = @flat, slot = "grad", slices = 2, segments = [#weft.segment<@w [4, 5] at 0 to 20>, #weft.segment<@u [4, 2] at 24 to 32>]}
// CHECK-LABEL: plan.program "eval" @flat_eval
weft.program @flat_eval(%x: tensor<8x4xf32> {weft.input = "x"}) -> (tensor<8x2xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // CHECK: %[[F:.*]] = plan.use @flat : memref<40xf32>
  %f = weft.read @flat : tensor<40xf32>
  %s = weft.slice %f offsets [24] sizes [8] strides [1] : tensor<40xf32>
  // CHECK: %[[V:.*]] = plan.view %[[F]] : memref<40xf32> to memref<4x2xf32, strided<[2, 1], offset: 24>>
  %u = weft.reshape %s : tensor<8xf32> to tensor<4x2xf32>
  // CHECK: plan.gemm %{{.*}} * %[[V]]
  %y = weft.matmul %x, %u : tensor<8x4xf32>, tensor<4x2xf32>
  weft.return %y : tensor<8x2xf32>
}

// -----

// Pieces of a flat state that are constants are written where they belong.

weft.state @flat.exp_avg : tensor<12xf32> {kind = #weft.state_kind<optimizer>}
// CHECK-LABEL: plan.program "init" @gaps
weft.program @gaps(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
  // CHECK-NOT: plan.copy
  // CHECK: %[[V:.*]] = plan.view %{{.*}} : memref<12xf32> to memref<8xf32, strided<[1], offset: 4>>
  // CHECK: plan.launch {{.*}} outs(%{{.*}} : memref<4xf32>)
  %a = weft.random_uniform %seed {key = "a", low = 0.0 : f64, high = 1.0 : f64} : tensor<4xf32>
  %gap = weft.constant dense<0.0> : tensor<8xf32>
  %flat = weft.concat %a, %gap {dim = 0} : tensor<4xf32>, tensor<8xf32>
  // CHECK-NEXT: plan.constant %[[V]] = dense<0.000000e+00> : tensor<8xf32> : memref<8xf32, strided<[1], offset: 4>>
  // CHECK-NOT: plan.copy
  weft.return writes @flat.exp_avg = %flat : tensor<12xf32>
}
