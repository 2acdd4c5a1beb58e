// RUN: weft-opt --weft-autodiff %s | FileCheck %s
// RUN: weft-opt --pass-pipeline="builtin.module(weft-autodiff,cse)" %s | FileCheck %s
// RUN: weft-opt --pass-pipeline="builtin.module(weft-autodiff,weft-remove-fences)" %s | FileCheck %s --check-prefix=PLAIN --implicit-check-not=weft.fence

// What the backward part reads of a segment it computes again, from what the segment
// begins with, behind a fence: CSE finds nothing to merge. Only that is saved. What only
// the forward part needs (the last add) is not computed again, and neither is what a
// segment hands on: the backward part of the product in "h.1" reads it as it was saved. A
// dropout has its number. An input of the program is fenced, too.

weft.param @w : tensor<4xf32> {init = #weft.init<ones>}
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[X:[^ ]*]]: tensor<4xf32> {weft.input = "x"}
// CHECK-NOT: weft.recompute
// CHECK: %[[W:.*]] = weft.read @w
// CHECK: %[[IN:.*]] = weft.mul %[[X]], %[[W]] {weft.saved = array<i64: 0>}
// CHECK: %[[T0:.*]] = weft.tanh %[[IN]] {weft.scope = "h.0"}
// CHECK: %[[D0:.*]] = weft.dropout %[[T0]]
// CHECK-NOT: weft.saved
// CHECK: %[[Y0:.*]] = weft.add %[[IN]], %[[D0]] {weft.saved = array<i64: 0>, weft.scope = "h.0"}
// CHECK: %[[T1:.*]] = weft.tanh %[[Y0]] {weft.scope = "h.1"}
// CHECK: %[[Y1:.*]] = weft.add %[[Y0]], %[[T1]] {weft.scope = "h.1"}
// CHECK: %[[F1:.*]] = weft.fence %[[Y0]] {weft.scope = "h.1"}
// CHECK: %[[A1:.*]] = weft.tanh %[[F1]] {weft.scope = "h.1"}
// CHECK: weft.mul %[[A1]], %[[A1]] {weft.scope = "h.1"}
// CHECK: %[[F0:.*]] = weft.fence %[[IN]] {weft.scope = "h.0"}
// CHECK: %[[A0:.*]] = weft.tanh %[[F0]] {weft.scope = "h.0"}
// CHECK: weft.mul %[[A0]], %[[A0]] {weft.scope = "h.0"}
// CHECK-NOT: weft.fence
// PLAIN: %[[IN:.*]] = weft.mul %{{.*}}, %{{.*}} {weft.saved
// PLAIN: weft.tanh %[[IN]] {weft.scope = "h.0"}
// PLAIN: weft.tanh %[[IN]] {weft.scope = "h.0"}
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
