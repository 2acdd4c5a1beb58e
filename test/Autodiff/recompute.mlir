// RUN: weft-opt --pass-pipeline="builtin.module(weft-autodiff,weft.program(canonicalize,cse,weft-recompute))" --split-input-file %s | FileCheck %s --implicit-check-not=weft.recompute

// The backward part recomputes the values of a segment that it reads, from the
// values that the segment starts from. Only these are saved. Values that only
// the forward part needs (the last add) are not recomputed, and neither are the
// results of a segment: the backward part of the product in "h.1" reads the
// saved one. A copied dropout keeps its number.

weft.param @w : tensor<4xf32> {init = #weft.init<ones>}
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[X:[^ ]*]]: tensor<4xf32> {weft.input = "x"}
// CHECK: %[[W:.*]] = weft.read @w
// CHECK: %[[IN:.*]] = weft.mul %[[X]], %[[W]] {weft.saved = array<i64: 0>}
// CHECK: %[[T0:.*]] = weft.tanh %[[IN]] {weft.scope = "h.0"}
// CHECK: %[[D0:.*]] = weft.dropout %[[T0]]
// CHECK-NOT: weft.saved
// CHECK: %[[Y0:.*]] = weft.add %[[IN]], %[[D0]] {weft.saved = array<i64: 0>, weft.scope = "h.0"}
// CHECK: %[[T1:.*]] = weft.tanh %[[Y0]] {weft.scope = "h.1"}
// CHECK: %[[Y1:.*]] = weft.add %[[Y0]], %[[T1]] {weft.scope = "h.1"}
// CHECK: %[[A1:.*]] = weft.tanh %[[Y0]] {weft.scope = "h.1"}
// CHECK: weft.mul %[[A1]], %[[A1]] {weft.scope = "h.1"}
// CHECK: %[[A0:.*]] = weft.tanh %[[IN]] {weft.scope = "h.0"}
// CHECK: weft.mul %[[A0]], %[[A0]] {weft.scope = "h.0"}
weft.program @micro(%x: tensor<4xf32> {weft.input = "x"},
                    %s: tensor<f32> {weft.input = "loss_seed"},
                    %a: tensor<f32> {weft.input = "accumulate"},
                    %rng: tensor<2xi64> {weft.input = "rng"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4xf32>
  %in = weft.mul %x, %w : tensor<4xf32>, tensor<4xf32>
  %t0 = weft.tanh %in {weft.recompute = "h.0", weft.scope = "h.0"} : tensor<4xf32>
  %d0 = weft.dropout %t0 rng %rng : tensor<2xi64> {p = 5.0e-01 : f64, op_id = 3 : i64, weft.recompute = "h.0", weft.scope = "h.0"} : tensor<4xf32>
  %y0 = weft.add %in, %d0 {weft.recompute = "h.0", weft.scope = "h.0"} : tensor<4xf32>, tensor<4xf32>
  %t1 = weft.tanh %y0 {weft.recompute = "h.1", weft.scope = "h.1"} : tensor<4xf32>
  %y1 = weft.add %y0, %t1 {weft.recompute = "h.1", weft.scope = "h.1"} : tensor<4xf32>, tensor<4xf32>
  %loss = weft.reduce sum %y1 dims [0] : tensor<4xf32>
  weft.return %loss : tensor<f32>
}

// -----

// A mark keeps no two ops apart: the second tanh goes, marked or not. The
// gradient of the product reads the copy of the first one.

weft.param @w : tensor<4xf32> {init = #weft.init<ones>}
// CHECK-LABEL: weft.program @micro(
// CHECK: weft.tanh
// CHECK-NOT: weft.tanh
// CHECK: weft.reduce
// CHECK: weft.tanh
// CHECK-NOT: weft.tanh
// CHECK: weft.return
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"},
                    %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4xf32>
  %x = weft.tanh %w {weft.recompute = "h.0", weft.scope = "h.0"} : tensor<4xf32>
  %y = weft.tanh %w {weft.scope = "h.0"} : tensor<4xf32>
  %p = weft.mul %x, %y {weft.recompute = "h.0", weft.scope = "h.0"} : tensor<4xf32>, tensor<4xf32>
  %e = weft.exp %p {weft.recompute = "h.1", weft.scope = "h.1"} : tensor<4xf32>
  %loss = weft.reduce sum %e dims [0] : tensor<4xf32>
  weft.return %loss : tensor<f32>
}

// -----

// A program without a backward part only loses its marks.

// CHECK-LABEL: weft.program @eval(
// CHECK-COUNT-1: weft.tanh
// CHECK-NOT: weft.tanh
weft.param @w : tensor<4xf32> {init = #weft.init<ones>}
weft.program @eval(%x: tensor<4xf32> {weft.input = "x"})
    -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.tanh %x {weft.recompute = "h.0"} : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}
// CHECK-LABEL: weft.program @micro(
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"},
                    %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4xf32>
  %loss = weft.reduce sum %w dims [0] : tensor<4xf32>
  weft.return %loss : tensor<f32>
}

// -----

// The program returns the tanh and the loss, so the forward part keeps them.
// No backward op reads them: they are not saved, and nothing is recomputed.

weft.param @w : tensor<4xf32> {init = #weft.init<ones>}
// CHECK-LABEL: weft.program @micro(
// CHECK: weft.exp {{.*}}weft.saved
// CHECK: %[[LOSS:.*]] = weft.reduce sum %{{[^ ]*}} dims [0] {weft.scope = "head"}
// CHECK: %[[PROBE:.*]] = weft.tanh %{{[^ ]*}} {weft.scope = "h.0"}
// CHECK-NOT: weft.exp
// CHECK-NOT: weft.tanh
// CHECK: weft.return %[[LOSS]], %[[PROBE]] :
weft.program @micro(%x: tensor<4xf32> {weft.input = "x"},
                    %s: tensor<f32> {weft.input = "loss_seed"},
                    %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}, tensor<4xf32> {weft.output = "probe"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4xf32>
  %m = weft.mul %x, %w {weft.recompute = "h.0", weft.scope = "h.0"} : tensor<4xf32>, tensor<4xf32>
  %e = weft.exp %m {weft.recompute = "h.0", weft.scope = "h.0"} : tensor<4xf32>
  %loss = weft.reduce sum %e dims [0] {weft.scope = "head"} : tensor<4xf32>
  %probe = weft.tanh %e {weft.recompute = "h.0", weft.scope = "h.0"} : tensor<4xf32>
  weft.return %loss, %probe : tensor<f32>, tensor<4xf32>
}

// -----

// The cosine is a backward op although no earlier op reads `loss_seed`. It
// reads a copy of the sum, and neither of them is saved.

weft.param @w : tensor<4xf32> {init = #weft.init<ones>}
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[X:[^ ]*]]: tensor<4xf32> {weft.input = "x"}, %[[SEED:[^ ]*]]: tensor<f32> {weft.input = "loss_seed"}
// CHECK: %[[W:.*]] = weft.read @w
// CHECK: weft.mul %[[X]], %[[W]] {weft.scope = "head"}
// CHECK-NEXT: weft.reduce sum
// CHECK-NEXT: %[[LOSS:.*]] = weft.sin %{{[^ ]*}} {weft.scope = "head"}
// CHECK-NEXT: %[[M:.*]] = weft.mul %[[X]], %[[W]] {weft.scope = "head"}
// CHECK-NEXT: %[[AGAIN:.*]] = weft.reduce sum %[[M]] dims [0] {weft.scope = "head"}
// CHECK-NEXT: %[[COS:.*]] = weft.cos %[[AGAIN]] {weft.scope = "head"}
// CHECK-NEXT: weft.mul %[[SEED]], %[[COS]]
// CHECK: weft.return %[[LOSS]]
weft.program @micro(%x: tensor<4xf32> {weft.input = "x"},
                    %s: tensor<f32> {weft.input = "loss_seed"},
                    %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4xf32>
  %m = weft.mul %x, %w {weft.recompute = "head", weft.scope = "head"} : tensor<4xf32>, tensor<4xf32>
  %e = weft.reduce sum %m dims [0] {weft.recompute = "head", weft.scope = "head"} : tensor<4xf32>
  %loss = weft.sin %e {weft.recompute = "head", weft.scope = "head"} : tensor<f32>
  weft.return %loss : tensor<f32>
}

// -----

// `weft.saved` keeps no two ops apart: the backward part reads the first tanh,
// but not the second. The same holds without marks.

weft.param @w : tensor<4xf32> {init = #weft.init<ones>}
// CHECK-LABEL: weft.program @micro(
// CHECK: %[[T:.*]] = weft.tanh
// CHECK-NOT: weft.tanh
// CHECK: weft.sign %[[T]] {{.*}}weft.saved
// CHECK: weft.exp %[[T]]
// CHECK: weft.reduce
// CHECK: weft.tanh
// CHECK-NOT: weft.tanh
// CHECK: weft.return
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"},
                    %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4xf32>
  %x = weft.tanh %w {weft.recompute = "h.0", weft.scope = "h.0"} : tensor<4xf32>
  %y = weft.tanh %w {weft.scope = "h.0"} : tensor<4xf32>
  %q = weft.sign %y {weft.scope = "h.0"} : tensor<4xf32>
  %e = weft.exp %x {weft.recompute = "h.0", weft.scope = "h.0"} : tensor<4xf32>
  %p = weft.mul %e, %q {weft.scope = "h.1"} : tensor<4xf32>, tensor<4xf32>
  %loss = weft.reduce sum %p dims [0] : tensor<4xf32>
  weft.return %loss : tensor<f32>
}

// -----

weft.param @w : tensor<4xf32> {init = #weft.init<ones>}
// CHECK-LABEL: weft.program @micro(
// CHECK: %[[T:.*]] = weft.tanh %{{[^ ]*}} {weft.saved
// CHECK-NEXT: weft.sign %[[T]] {weft.saved
// CHECK-NEXT: weft.exp %[[T]] {weft.saved
// CHECK-NOT: weft.tanh
// CHECK: weft.mul %[[T]], %[[T]]
// CHECK: weft.return
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"},
                    %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4xf32>
  %x = weft.tanh %w : tensor<4xf32>
  %y = weft.tanh %w : tensor<4xf32>
  %q = weft.sign %y : tensor<4xf32>
  %e = weft.exp %x : tensor<4xf32>
  %p = weft.mul %e, %q : tensor<4xf32>, tensor<4xf32>
  %loss = weft.reduce sum %p dims [0] : tensor<4xf32>
  weft.return %loss : tensor<f32>
}
