// RUN: weft-opt %s --weft-decompose --weft-fuse | FileCheck %s
// Numbers that updates share are computed once, in one kernel; a number that is not shared
// joins those before it, but no loop.

// CHECK-LABEL: weft.program @updates
// CHECK: %[[N:.*]]:4 = weft.call @[[NUMBERS:.*]](
// CHECK: weft.call @[[UPDATE:[^(]*]](%{{.*}}, %{{.*}}, %{{.*}}, %[[N]]#
// CHECK: weft.call @[[UPDATE]](
// CHECK-NOT: weft.call
weft.program @updates(%p: tensor<64x64xf32> {weft.input = "p"}, %q: tensor<64x64xf32> {weft.input = "q"},
    %b: tensor<64x64xf32> {weft.input = "b"}, %c: tensor<64x64xf32> {weft.input = "c"},
    %g: tensor<64x64xf32> {weft.input = "g"}, %h: tensor<64x64xf32> {weft.input = "h"}, %coef: tensor<f32> {weft.input = "coef"},
    %skip: tensor<i1> {weft.input = "skip"}, %step: tensor<i64> {weft.input = "step"}, %lr: tensor<f64> {weft.input = "lr"},
    %wd: tensor<f64> {weft.input = "wd"}, %mu: tensor<f64> {weft.input = "mu"})
    -> (tensor<64x64xf32> {weft.output = "np"}, tensor<64x64xf32> {weft.output = "nq"}) attributes {kind = #weft.kind<apply>} {
  %np, %nb = weft.sgd(%p, %b, %g, %coef, %skip, %step, %lr, %wd, %mu)
      : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
  %nq, %nc = weft.sgd(%q, %c, %h, %coef, %skip, %step, %lr, %wd, %mu)
      : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
  weft.return %np, %nq : tensor<64x64xf32>, tensor<64x64xf32>
}

// The sum of all gradients, its root, the coefficient and the step.
// CHECK-LABEL: weft.program @numbers
// CHECK: weft.call
// CHECK: weft.call
// CHECK: weft.concat
// CHECK: %{{.*}}:3 = weft.call
// CHECK-NOT: weft.call
weft.program @numbers(%a: tensor<64x64xf32> {weft.input = "a"}, %b: tensor<64x128xf32> {weft.input = "b"}, %max: tensor<f64> {weft.input = "max"},
    %step: tensor<i64> {weft.input = "step"})
    -> (tensor<f64> {weft.output = "norm"}, tensor<f32> {weft.output = "coef"}, tensor<i64> {weft.output = "next"}) attributes {kind = #weft.kind<apply>} {
  %norm, %bad = weft.norm_and_check %a, %b {p = 2.0 : f64} : tensor<64x64xf32>, tensor<64x128xf32>
  %coef = weft.clip_coefficient %norm, %max
  %next = weft.step_increment %step, %bad
  weft.return %norm, %coef, %next : tensor<f64>, tensor<f32>, tensor<i64>
}

// A kernel over elements takes no number that it does not need.
// CHECK-LABEL: weft.program @apart
// CHECK: %[[FIRST:.*]] = weft.call {{.*}} -> tensor<i1>
// CHECK: weft.call {{.*}}, %[[FIRST]]) : {{.*}} -> tensor<64x64xf32>
// CHECK: weft.call {{.*}} -> tensor<i64>
weft.program @apart(%old: tensor<64x64xf32> {weft.input = "old"}, %new: tensor<64x64xf32> {weft.input = "new"}, %flag: tensor<f32> {weft.input = "flag"},
    %step: tensor<i64> {weft.input = "step"}, %skip: tensor<i1> {weft.input = "skip"})
    -> (tensor<64x64xf32> {weft.output = "sum"}, tensor<i64> {weft.output = "next"}) attributes {kind = #weft.kind<micro>} {
  %sum = weft.accumulate %old, %new, %flag : tensor<64x64xf32>
  %next = weft.step_increment %step, %skip
  weft.return %sum, %next : tensor<64x64xf32>, tensor<i64>
}

// A number that part of a loop needs keeps no other part away, whichever comes first.
// CHECK-LABEL: weft.program @one_loop
// CHECK: weft.call
// CHECK-NOT: weft.call
weft.program @one_loop(%x: tensor<64x256xf16> {weft.input = "x"}, %a: tensor<f32> {weft.input = "a"}, %b: tensor<f32> {weft.input = "b"})
    -> (tensor<64x256xf16> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %n = weft.mul %a, %b : tensor<f32>, tensor<f32>
  %c = weft.cast %x : tensor<64x256xf16> to tensor<64x256xf32>
  %w = weft.broadcast %n : tensor<f32> to tensor<64x256xf32>
  %d = weft.div %w, %b : tensor<64x256xf32>, tensor<f32>
  %e = weft.exp %c : tensor<64x256xf32>
  %m = weft.mul %e, %d : tensor<64x256xf32>, tensor<64x256xf32>
  %y = weft.cast %m : tensor<64x256xf32> to tensor<64x256xf16>
  weft.return %y : tensor<64x256xf16>
}
