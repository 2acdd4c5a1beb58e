// RUN: weft-opt %s --weft-bucket=align=16 --split-input-file | FileCheck %s
// Which weight decays one update can have.

// A constant goes with either number, but the numbers not with one another.
// CHECK-LABEL: module @two
// CHECK: weft.param @a.flat : {{.*}}[#weft.segment<@a [4] at 0 to 4>, #weft.segment<@b [4] at 16 to 20>]}
// CHECK-NEXT: weft.param @c : tensor<4xf32>
// CHECK: weft.program @apply({{.*}}%[[WD:[^:]*]]: tensor<f64> {weft.input = "wd"})
// CHECK: weft.sgd({{.*}}, %[[WD]], %{{[^)]*}}) {factors = [#weft.factors<from 0, weight_decay = 1.000000e-01>, #weft.factors<from 16>]} : (tensor<32xf32>
// CHECK: weft.sgd({{.*}} : (tensor<4xf32>
// CHECK-NOT: weft.sgd
module @two {
  weft.param @a : tensor<4xf32>
  weft.param @b : tensor<4xf32>
  weft.param @c : tensor<4xf32>
  weft.state @a.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @a}
  weft.state @b.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @b}
  weft.state @c.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @c}
  weft.state @a.momentum_buffer : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @a}
  weft.state @b.momentum_buffer : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @b}
  weft.state @c.momentum_buffer : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @c}
  weft.program @apply(%k: tensor<f32> {weft.input = "coef"}, %skip: tensor<i1> {weft.input = "skip"}, %t: tensor<i64> {weft.input = "step"}, %n: tensor<f64> {weft.input = "n"}, %wd: tensor<f64> {weft.input = "wd"})
      attributes {kind = #weft.kind<apply>} {
    %own = weft.constant dense<0.1> : tensor<f64>
    %a = weft.read @a : tensor<4xf32>
    %am = weft.read @a.momentum_buffer : tensor<4xf32>
    %ag = weft.read @a.grad : tensor<4xf32>
    %a1, %am1 = weft.sgd(%a, %am, %ag, %k, %skip, %t, %n, %own, %n) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
    %b = weft.read @b : tensor<4xf32>
    %bm = weft.read @b.momentum_buffer : tensor<4xf32>
    %bg = weft.read @b.grad : tensor<4xf32>
    %b1, %bm1 = weft.sgd(%b, %bm, %bg, %k, %skip, %t, %n, %wd, %n) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
    %c = weft.read @c : tensor<4xf32>
    %cm = weft.read @c.momentum_buffer : tensor<4xf32>
    %cg = weft.read @c.grad : tensor<4xf32>
    %c1, %cm1 = weft.sgd(%c, %cm, %cg, %k, %skip, %t, %n, %n, %n) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
    weft.return writes @a = %a1 : tensor<4xf32>, @a.momentum_buffer = %am1 : tensor<4xf32>, @b = %b1 : tensor<4xf32>, @b.momentum_buffer = %bm1 : tensor<4xf32>, @c = %c1 : tensor<4xf32>, @c.momentum_buffer = %cm1 : tensor<4xf32>
  }
}

// -----

// A number that is computed behind the first of the updates comes too late for
// it.
// CHECK-LABEL: module @late
// CHECK: weft.param @a : tensor<4xf32>
// CHECK-NEXT: weft.param @a.flat : {{.*}}[#weft.segment<@b [4] at 0 to 4>, #weft.segment<@c [4] at 16 to 20>]}
// CHECK: weft.sgd({{.*}} : (tensor<4xf32>
// CHECK: %[[LATE:.*]] = weft.mul
// CHECK: weft.sgd({{.*}}, %[[LATE]], %{{[^)]*}}) : (tensor<32xf32>
// CHECK-NOT: weft.sgd
module @late {
  weft.param @a : tensor<4xf32>
  weft.param @b : tensor<4xf32>
  weft.param @c : tensor<4xf32>
  weft.state @a.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @a}
  weft.state @b.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @b}
  weft.state @c.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @c}
  weft.state @a.momentum_buffer : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @a}
  weft.state @b.momentum_buffer : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @b}
  weft.state @c.momentum_buffer : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @c}
  weft.program @apply(%k: tensor<f32> {weft.input = "coef"}, %skip: tensor<i1> {weft.input = "skip"}, %t: tensor<i64> {weft.input = "step"}, %n: tensor<f64> {weft.input = "n"}, %wd: tensor<f64> {weft.input = "wd"})
      attributes {kind = #weft.kind<apply>} {
    %own = weft.constant dense<0.1> : tensor<f64>
    %a = weft.read @a : tensor<4xf32>
    %am = weft.read @a.momentum_buffer : tensor<4xf32>
    %ag = weft.read @a.grad : tensor<4xf32>
    %a1, %am1 = weft.sgd(%a, %am, %ag, %k, %skip, %t, %n, %own, %n) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
    %late = weft.mul %wd, %n : tensor<f64>, tensor<f64>
    %b = weft.read @b : tensor<4xf32>
    %bm = weft.read @b.momentum_buffer : tensor<4xf32>
    %bg = weft.read @b.grad : tensor<4xf32>
    %b1, %bm1 = weft.sgd(%b, %bm, %bg, %k, %skip, %t, %n, %late, %n) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
    %c = weft.read @c : tensor<4xf32>
    %cm = weft.read @c.momentum_buffer : tensor<4xf32>
    %cg = weft.read @c.grad : tensor<4xf32>
    %c1, %cm1 = weft.sgd(%c, %cm, %cg, %k, %skip, %t, %n, %late, %n) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
    weft.return writes @a = %a1 : tensor<4xf32>, @a.momentum_buffer = %am1 : tensor<4xf32>, @b = %b1 : tensor<4xf32>, @b.momentum_buffer = %bm1 : tensor<4xf32>, @c = %c1 : tensor<4xf32>, @c.momentum_buffer = %cm1 : tensor<4xf32>
  }
}
