// RUN: weft-opt %s --weft-decompose | FileCheck %s
// RUN: weft-opt %s --weft-decompose --weft-fuse | FileCheck %s --check-prefix=FUSED --implicit-check-not="weft.{{formula|update |repeats}}"

// Ops of a formula name the op that they replace, and the number of their
// update. The second update differs from the first one in its tensors alone: it
// stays, and calls the kernels of the first one.

weft.param @a : tensor<4xf32>
weft.param @b : tensor<4xf32>
weft.state @a.m : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @a}
weft.state @b.m : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @b}
weft.state @a.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @a}
weft.state @b.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @b}

// CHECK-LABEL: weft.program @apply
// CHECK: %[[A:.*]] = weft.read @a :
// CHECK: weft.mul %{{.*}} {weft.formula = "sgd", weft.update = 0 : i64}
// CHECK: %[[B:.*]] = weft.read @b :
// CHECK-NOT: weft.mul
// CHECK: weft.sgd(%[[B]], {{.*}} {weft.repeats = #weft.repeats<update = 0, states = [@a, @a.m, @a.grad], results = 0, 1>}
// FUSED-LABEL: weft.program @apply
// FUSED: %[[A:.*]] = weft.read @a :
// FUSED: weft.call @[[KERNEL:k_[0-9a-f]*]]({{.*}}%[[A]]
// FUSED: %[[B:.*]] = weft.read @b :
// FUSED: weft.call @[[KERNEL]]({{.*}}%[[B]]
weft.program @apply(%coef: tensor<f32> {weft.input = "coef"}, %skip: tensor<i1> {weft.input = "skip"},
    %step: tensor<i64> {weft.input = "step"}, %lr: tensor<f64> {weft.input = "lr"})
    attributes {kind = #weft.kind<apply>} {
  %a = weft.read @a : tensor<4xf32>
  %am = weft.read @a.m : tensor<4xf32>
  %ag = weft.read @a.grad : tensor<4xf32>
  %a1, %am1 = weft.sgd(%a, %am, %ag, %coef, %skip, %step, %lr, %lr, %lr) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  %b = weft.read @b : tensor<4xf32>
  %bm = weft.read @b.m : tensor<4xf32>
  %bg = weft.read @b.grad : tensor<4xf32>
  %b1, %bm1 = weft.sgd(%b, %bm, %bg, %coef, %skip, %step, %lr, %lr, %lr) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  weft.return writes @a = %a1 : tensor<4xf32>, @a.m = %am1 : tensor<4xf32>, @b = %b1 : tensor<4xf32>, @b.m = %bm1 : tensor<4xf32>
}

// A reduction over one element becomes a reshape of the same formula.
// CHECK-LABEL: weft.program @origin
// CHECK: weft.reshape %{{.*}} {weft.formula = "softmax", weft.scope = "h.0", weft.update = 3 : i64}
// FUSED-LABEL: weft.program @origin
weft.program @origin(%x: tensor<1x4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.reduce sum %x dims [0] {weft.formula = "softmax", weft.scope = "h.0", weft.update = 3 : i64} : tensor<1x4xf32>
  weft.return %y : tensor<4xf32>
}
