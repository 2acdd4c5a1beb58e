// RUN: weft-opt %s --weft-autodiff --split-input-file | FileCheck %s

// One parameter: its gradient state, the accumulation and the saved values.

// CHECK: weft.param @w
// CHECK-NEXT: weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32> {weft.input = "x"}, %[[SEED:.*]]: tensor<f32> {weft.input = "loss_seed"}, %[[FLAG:.*]]: tensor<f32>
weft.param @w : tensor<4xf32> {init = #weft.init<ones>, scope = "fc"}
weft.program @micro(%x: tensor<4xf32> {weft.input = "x"},
                    %s: tensor<f32> {weft.input = "loss_seed"},
                    %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: %[[W:.*]] = weft.read @w
  %w = weft.read @w : tensor<4xf32>
  // CHECK: %[[Y:.*]] = weft.mul %[[X]], %[[W]] {weft.scope = "fc"}
  %y = weft.mul %x, %w {weft.scope = "fc"} : tensor<4xf32>, tensor<4xf32>
  // CHECK: %[[T:.*]] = weft.tanh %[[Y]] {weft.saved = array<i64: 0>}
  %t = weft.tanh %y : tensor<4xf32>
  // CHECK: %[[LOSS:.*]] = weft.reduce sum %[[T]]
  %loss = weft.reduce sum %t dims [0] : tensor<4xf32>
  // CHECK: %[[G1:.*]] = weft.broadcast
  // CHECK: %[[G2:.*]] = weft.mul %[[G1]], %{{.*}} : tensor<4xf32>, tensor<4xf32>
  // CHECK: %[[G3:.*]] = weft.mul %[[G2]], %[[X]] {weft.scope = "fc"}
  // CHECK: %[[OLD:.*]] = weft.read @w.grad {weft.scope = "fc"} : tensor<4xf32>
  // CHECK: %[[ACC:.*]] = weft.accumulate %[[OLD]], %[[G3]], %[[FLAG]] {weft.scope = "fc"}
  // CHECK: weft.return %[[LOSS]] : tensor<f32> writes @w.grad = %[[ACC]] : tensor<4xf32>
  weft.return %loss : tensor<f32>
}

// -----

// A value that is used twice sums the gradients of its uses, the last use first.
// A parameter that is read twice accumulates one gradient after the other, each
// where it is computed.

weft.param @w : tensor<4xf32> {init = #weft.init<ones>}
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[FLAG:[^ ]*]]: tensor<f32> {weft.input = "accumulate"}
weft.program @micro(%x: tensor<4xf32> {weft.input = "x"},
                    %s: tensor<f32> {weft.input = "loss_seed"},
                    %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4xf32>
  // CHECK: %[[E:.*]] = weft.exp
  %e = weft.exp %w : tensor<4xf32>
  // CHECK: %[[S:.*]] = weft.sin %[[E]]
  %sin = weft.sin %e : tensor<4xf32>
  %cos = weft.cos %e : tensor<4xf32>
  %again = weft.read @w : tensor<4xf32>
  %y = weft.mul %sin, %again : tensor<4xf32>, tensor<4xf32>
  %z = weft.add %y, %cos : tensor<4xf32>, tensor<4xf32>
  %loss = weft.reduce sum %z dims [0] : tensor<4xf32>
  // CHECK: %[[G:.*]] = weft.broadcast
  // CHECK: %[[AGAIN:.*]] = weft.mul %[[G]], %[[S]] :
  // CHECK-NEXT: %[[OLD:.*]] = weft.read @w.grad
  // CHECK-NEXT: %[[FIRST:.*]] = weft.accumulate %[[OLD]], %[[AGAIN]], %[[FLAG]]
  // CHECK: weft.sin %[[E]]
  // CHECK: %[[FROM_COS:.*]] = weft.neg
  // CHECK: weft.cos %[[E]]
  // CHECK-NEXT: %[[FROM_SIN:.*]] = weft.mul
  // CHECK-NEXT: %[[SUM:.*]] = weft.add %[[FROM_COS]], %[[FROM_SIN]]
  // CHECK-NEXT: %[[FROM_EXP:.*]] = weft.mul %[[SUM]], %[[E]]
  // CHECK-NEXT: %[[ONE:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[SECOND:.*]] = weft.accumulate %[[FIRST]], %[[FROM_EXP]], %[[ONE]]
  // CHECK-NEXT: weft.return %{{.*}} writes @w.grad = %[[SECOND]]
  weft.return %loss : tensor<f32>
}

// -----

// No gradient work for frozen parameters, inputs and what depends on them only.

// CHECK-NOT: @frozen.grad
weft.param @frozen : tensor<4x4xf32> {init = #weft.init<ones>, trainable = false}
weft.param @w : tensor<4x4xf32> {init = #weft.init<ones>}
// CHECK-LABEL: weft.program @micro(
weft.program @micro(%x: tensor<8x4xf32> {weft.input = "x"}, %ids: tensor<8x4xi32> {weft.input = "ids"},
                    %s: tensor<f32> {weft.input = "loss_seed"},
                    %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %frozen = weft.read @frozen : tensor<4x4xf32>
  %w = weft.read @w : tensor<4x4xf32>
  // CHECK: %[[H:.*]] = weft.matmul
  %h = weft.matmul %x, %frozen : tensor<8x4xf32>, tensor<4x4xf32>
  %f = weft.cast %ids : tensor<8x4xi32> to tensor<8x4xf32>
  // CHECK: %[[T:.*]] = weft.add
  %t = weft.add %h, %f : tensor<8x4xf32>, tensor<8x4xf32>
  %y = weft.matmul %t, %w : tensor<8x4xf32>, tensor<4x4xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<8x4xf32>
  // CHECK: weft.broadcast
  // CHECK-NEXT: weft.matmul %[[T]], %{{.*}} {transpose_lhs}
  // CHECK-NEXT: weft.read @w.grad
  // CHECK-NEXT: weft.accumulate
  // CHECK-NEXT: weft.return
  weft.return %loss : tensor<f32>
}

// -----

// A parameter that the loss does not depend on is frozen, not a zero gradient.

// CHECK: weft.param @unused : tensor<4xf32> {init = #weft.init<ones>, trainable = false}
// CHECK-NOT: @unused.grad
weft.param @unused : tensor<4xf32> {init = #weft.init<ones>}
weft.param @w : tensor<f32> {init = #weft.init<ones>}
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[SEED:[^ ]*]]: tensor<f32> {weft.input = "loss_seed"}
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"},
                    %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // CHECK: weft.accumulate %{{.*}}, %[[SEED]]
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

// Slices that tile a value (query, key and value of one projection) join their
// gradients instead of adding padded ones.

weft.param @w : tensor<2x6xf32> {init = #weft.init<ones>}
// CHECK-LABEL: weft.program @micro(
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"},
                    %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<2x6xf32>
  %0 = weft.slice %w offsets [0, 0] sizes [2, 2] strides [1, 1] : tensor<2x6xf32>
  %1 = weft.slice %w offsets [0, 2] sizes [2, 4] strides [1, 1] : tensor<2x6xf32>
  %e = weft.exp %0 : tensor<2x2xf32>
  %se = weft.reduce sum %e dims [0, 1] : tensor<2x2xf32>
  %t = weft.tanh %1 : tensor<2x4xf32>
  %st = weft.reduce sum %t dims [0, 1] : tensor<2x4xf32>
  %loss = weft.add %se, %st : tensor<f32>, tensor<f32>
  // CHECK-NOT: weft.pad
  // CHECK: %[[G:.*]] = weft.concat %{{.*}}, %{{.*}} {dim = 1 : i64} : tensor<2x2xf32>, tensor<2x4xf32>
  // CHECK: weft.accumulate %{{.*}}, %[[G]]
  weft.return %loss : tensor<f32>
}

// -----

// Values that the backward part reads through a reshape are saved by their own op.

weft.param @w : tensor<2x6xf32> {init = #weft.init<ones>}
// CHECK-LABEL: weft.program @micro(
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"},
                    %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<2x6xf32>
  // CHECK: weft.neg %{{.*}} {weft.saved = array<i64: 0>}
  %n = weft.neg %w : tensor<2x6xf32>
  // CHECK: weft.reshape
  // CHECK-NOT: saved
  // CHECK-SAME: to tensor<12xf32>
  %r = weft.reshape %n : tensor<2x6xf32> to tensor<12xf32>
  // CHECK: weft.sin
  // CHECK-NOT: saved
  // CHECK-SAME: : tensor<12xf32>
  %y = weft.sin %r : tensor<12xf32>
  %loss = weft.reduce sum %y dims [0] : tensor<12xf32>
  weft.return %loss : tensor<f32>
}
