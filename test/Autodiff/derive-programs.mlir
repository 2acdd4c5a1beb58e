// RUN: weft-opt %s --weft-derive-programs --split-input-file | FileCheck %s

// The three programs of a model with dropout: only @micro drops, and the unused
// output goes.

weft.param @w : tensor<4x2xf32> {init = #weft.init<normal, 0.0, 0.02>, scope = "fc"}
weft.param @b : tensor<2xf32> {init = #weft.init<constant, 0.5>}
weft.param @u : tensor<2xf32> {init = #weft.init<uniform, -0.1, 0.1>, trainable = false}

// CHECK-LABEL: weft.program @init(
// CHECK-SAME: %[[SEED:.*]]: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>}
// CHECK: %[[W:.*]] = weft.random_normal %[[SEED]] {key = "w", mean = 0.000000e+00 : f64, std = 2.000000e-02 : f64, weft.scope = "fc"} : tensor<4x2xf32>
// CHECK: %[[B:.*]] = weft.constant dense<5.000000e-01> : tensor<2xf32>
// CHECK: %[[U:.*]] = weft.random_uniform %[[SEED]] {high = 1.000000e-01 : f64, key = "u", low = -1.000000e-01 : f64} : tensor<2xf32>
// CHECK: weft.return writes @w = %[[W]] : tensor<4x2xf32>, @b = %[[B]] : tensor<2xf32>, @u = %[[U]] : tensor<2xf32>

// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: {weft.input = "x"}
// CHECK-SAME: tensor<f32> {weft.input = "loss_seed"}
// CHECK-SAME: tensor<f32> {weft.input = "accumulate"}
// CHECK-SAME: %[[RNG:.*]]: tensor<2xi64> {weft.input = "rng"})
// CHECK-SAME: -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>}
// CHECK: %[[X:.*]] = weft.matmul
// CHECK-NOT: p = 0.000000e+00
// CHECK-NOT: weft.tanh
// CHECK: weft.dropout %[[X]] rng %[[RNG]] : tensor<2xi64> {op_id = 1 : i64, p = 1.000000e-01 : f64}
// CHECK: weft.return %{{.*}} : tensor<f32>

// CHECK-LABEL: weft.program @eval(
// CHECK-SAME: {weft.input = "x"}) -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<eval>}
// CHECK-NOT: weft.dropout
// CHECK-NOT: weft.tanh
// CHECK: weft.return %{{.*}} : tensor<f32>
weft.program @model(%x: tensor<8x4xf32> {weft.input = "x"})
    -> (tensor<8x2xf32> {weft.output = "activations"}, tensor<f32> {weft.output = "loss"})
    attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4x2xf32>
  %y = weft.matmul %x, %w : tensor<8x4xf32>, tensor<4x2xf32>
  %z = weft.dropout %y {p = 0.0 : f64, op_id = 1} : tensor<8x2xf32>
  %d = weft.dropout %z {p = 0.1 : f64, op_id = 1} : tensor<8x2xf32>
  %unused = weft.tanh %d : tensor<8x2xf32>
  %loss = weft.reduce sum %d dims [0, 1] : tensor<8x2xf32>
  weft.return %unused, %loss : tensor<8x2xf32>, tensor<f32>
}

// -----

// Attention: dropout and its key leave eval and logits.

weft.param @w : tensor<1x3x2x4xf32> {init = #weft.init<ones>}

// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[RNG:[^ ]*]]: tensor<2xi64> {weft.input = "rng"})
// CHECK: weft.attention {{.*}} rng %[[RNG]] : tensor<2xi64> {causal, dropout = 1.000000e-01 : f64, op_id = 7 : i64
// CHECK-LABEL: weft.program @eval(
// CHECK-NOT: rng
// CHECK: weft.attention %{{.*}} {causal, scale = 5.000000e-01 : f64}
weft.program @model(%x: tensor<1x3x2x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<1x3x2x4xf32>
  %out, %lse = weft.attention %x, %w, %x {causal, scale = 0.5 : f64, dropout = 0.1 : f64, op_id = 7}
      : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>
  %loss = weft.reduce sum %out dims [0, 1, 2, 3] : tensor<1x3x2x4xf32>
  weft.return %loss : tensor<f32>
}

// CHECK-LABEL: weft.program @logits(
// CHECK-NOT: rng
// CHECK: weft.attention %{{.*}} {causal, scale = 5.000000e-01 : f64}
weft.program @logits(%x: tensor<1x3x2x4xf32> {weft.input = "x"})
    -> (tensor<1x3x2x4xf32> {weft.output = "logits"}) attributes {kind = #weft.kind<logits>} {
  %w = weft.read @w : tensor<1x3x2x4xf32>
  %out, %lse = weft.attention %x, %w, %x {causal, scale = 0.5 : f64, dropout = 0.1 : f64, op_id = 7}
      : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>
  weft.return %out : tensor<1x3x2x4xf32>
}

// -----

// Several losses: the output `loss` is their weighted sum, and each stays an
// output; the unused one goes.

weft.param @w : tensor<4xf32> {init = #weft.init<ones>}

// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: tensor<f32> {weft.input = "loss_seed"}
// CHECK-SAME: -> (tensor<f32> {weft.output = "loss"}, tensor<f32> {weft.output = "task"}, tensor<f32> {weft.output = "penalty"}) attributes {kind = #weft.kind<micro>}
// CHECK: %[[TASK:.*]] = weft.reduce mean
// CHECK: %[[PENALTY:.*]] = weft.reduce sum
// CHECK: %[[ONE:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V0:.*]] = weft.mul %[[TASK]], %[[ONE]]
// CHECK-NEXT: %[[C:.*]] = weft.constant dense<2.500000e-01> : tensor<f32>
// CHECK-NEXT: %[[V1:.*]] = weft.mul %[[PENALTY]], %[[C]]
// CHECK-NEXT: %[[SUM:.*]] = weft.add %[[V0]], %[[V1]]
// CHECK-NEXT: weft.return %[[SUM]], %[[TASK]], %[[PENALTY]]

// CHECK-LABEL: weft.program @eval(
// CHECK-SAME: -> (tensor<f32> {weft.output = "loss"}, tensor<f32> {weft.output = "task"}, tensor<f32> {weft.output = "penalty"})
weft.program @model(%x: tensor<4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "task", weft.loss = 1.0 : f64}, tensor<4xf32> {weft.output = "y"},
        tensor<f32> {weft.output = "penalty", weft.loss = 0.25 : f64})
    attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4xf32>
  %y = weft.mul %x, %w : tensor<4xf32>, tensor<4xf32>
  %task = weft.reduce mean %y dims [0] : tensor<4xf32>
  %square = weft.mul %w, %w : tensor<4xf32>, tensor<4xf32>
  %penalty = weft.reduce sum %square dims [0] : tensor<4xf32>
  weft.return %task, %y, %penalty : tensor<f32>, tensor<4xf32>, tensor<f32>
}

// -----

// Evaluation never drops a layer, nor does p = 0.

weft.param @w : tensor<4xf32> {init = #weft.init<ones>}

// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[RNG:[^ ]*]]: tensor<2xi64> {weft.input = "rng"})
// CHECK: %[[F:.*]] = weft.mul
// CHECK-NEXT: weft.layer_drop %{{.*}}, %[[F]] rng %[[RNG]] : tensor<2xi64> {op_id = 7 : i64, p = 2.500000e-01 : f64} : tensor<4xf32>
// CHECK-NOT: weft.layer_drop
// CHECK-LABEL: weft.program @eval(
// CHECK-NOT: rng
// CHECK: %[[F:.*]] = weft.mul
// CHECK-NEXT: weft.reduce sum %[[F]]
// CHECK-LABEL: weft.program @logits(
// CHECK: %[[NEVER:.*]] = weft.constant dense<false> : tensor<i1>
// CHECK: weft.return %{{.*}}, %[[NEVER]]
weft.program @model(%x: tensor<4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4xf32>
  %f = weft.mul %x, %w : tensor<4xf32>, tensor<4xf32>
  %y, %d = weft.layer_drop %x, %f {p = 0.25 : f64, op_id = 7} : tensor<4xf32>
  %z, %e = weft.layer_drop %x, %y {p = 0.0 : f64, op_id = 7} : tensor<4xf32>
  %loss = weft.reduce sum %z dims [0] : tensor<4xf32>
  weft.return %loss : tensor<f32>
}
weft.program @logits(%x: tensor<4xf32> {weft.input = "x"})
    -> (tensor<4xf32> {weft.output = "y"}, tensor<i1> {weft.output = "dropped"}) attributes {kind = #weft.kind<logits>} {
  %y, %d = weft.layer_drop %x, %x {p = 0.25 : f64, op_id = 7} : tensor<4xf32>
  weft.return %y, %d : tensor<4xf32>, tensor<i1>
}
