// DEFINE: %{plain} = sed -E 's/weft[.](formula|update) = ("[^"]*"|[0-9]+ : i64)(, )?//g; s/, [}]/}/; s/ [{][}]//'
// RUN: weft-opt %s --weft-decompose --split-input-file | %{plain} | FileCheck %s
// The formulas of a step on flat states.

// Factors by range of elements: a number is there once for each different value,
// and an element chooses by its position. The value of most ranges needs no
// comparison; ranges side by side with one value are one.
// CHECK-LABEL: weft.program @sgd(
// CHECK-SAME: %[[P:[^:]*]]: tensor{{[^{]*}}{weft.input = "p"}
// CHECK-SAME: %[[LR:[^:]*]]: tensor{{[^{]*}}{weft.input = "lr"}
// CHECK-SAME: %[[WD:[^:]*]]: tensor{{[^{]*}}{weft.input = "wd"}
// CHECK: %[[RATE:.*]] = weft.cast %[[LR]] : tensor<f64> to tensor<f32>
// CHECK: %[[TWO:.*]] = weft.constant dense<2.000000e+00> : tensor<f64>
// CHECK: %[[TWICE:.*]] = weft.mul %[[LR]], %[[TWO]]
// CHECK: %[[RATE2:.*]] = weft.cast %[[TWICE]] : tensor<f64> to tensor<f32>
// CHECK: %[[DECAY:.*]] = weft.cast %[[WD]] : tensor<f64> to tensor<f32>
// CHECK: %[[NONE:.*]] = weft.constant dense<0.000000e+00> : tensor<f64>
// CHECK: %[[ZERO:.*]] = weft.mul %[[WD]], %[[NONE]]
// CHECK: %[[ZERO32:.*]] = weft.cast %[[ZERO]] : tensor<f64> to tensor<f32>
// CHECK: %[[OWN:.*]] = weft.constant dense<2.500000e-01> : tensor<f64>
// CHECK: %[[OWN32:.*]] = weft.cast %[[OWN]] : tensor<f64> to tensor<f32>
// CHECK: %[[AT:.*]] = weft.iota [0] : tensor<1024xi32>
// CHECK: %[[C128:.*]] = weft.constant dense<128> : tensor<i32>
// CHECK: %[[BEFORE:.*]] = weft.compare lt %[[AT]], %[[C128]]
// CHECK: %[[D0:.*]] = weft.select %[[BEFORE]], %[[DECAY]], %[[ZERO32]]
// CHECK: %[[FROM:.*]] = weft.compare ge %[[AT]]
// CHECK: %[[TO:.*]] = weft.compare lt %[[AT]]
// CHECK: %[[IN:.*]] = weft.and %[[FROM]], %[[TO]]
// CHECK: %[[D1:.*]] = weft.select %[[IN]], %[[OWN32]], %[[D0]]
// CHECK: weft.mul %{{.*}}, %[[D1]] : tensor<1024xf32>, tensor<1024xf32>
// CHECK: %[[C512:.*]] = weft.constant dense<512> : tensor<i32>
// CHECK: %[[BEHIND:.*]] = weft.compare ge %[[AT]], %[[C512]]
// CHECK: weft.select %[[BEHIND]], %[[RATE2]], %[[RATE]]
// CHECK-NOT: weft.iota
weft.program @sgd(%p: tensor<1024xf32> {weft.input = "p"}, %c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"},
    %t: tensor<i64> {weft.input = "t"}, %lr: tensor<f64> {weft.input = "lr"}, %wd: tensor<f64> {weft.input = "wd"})
    -> (tensor<1024xf32> {weft.output = "n"}) attributes {kind = #weft.kind<apply>} {
  %n, %m = weft.sgd(%p, %p, %p, %c, %s, %t, %lr, %wd, %lr)
      {factors = [#weft.factors<from 0>, #weft.factors<from 128, decay_scale = 0.0>, #weft.factors<from 256, weight_decay = 0.25>,
                  #weft.factors<from 384, decay_scale = 0.0>, #weft.factors<from 512, lr_scale = 2.0, decay_scale = 0.0>]}
      : (tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1024xf32>, tensor<1024xf32>)
  weft.return %n : tensor<1024xf32>
}

// -----

// Gradients that follow one another have their rows in one piece: a and b, which
// rows of 128 elements cut, then c, whose rest ends the piece, and d, behind a gap.
// CHECK-LABEL: weft.program @norm(
// CHECK: %[[FLAT:.*]] = weft.read @flat.grad
// CHECK: %[[AB:.*]] = weft.slice %[[FLAT]] offsets [0] sizes [640] strides [1]
// CHECK: weft.reshape %[[AB]] : tensor<640xf32> to tensor<5x128xf32>
// CHECK: %[[C:.*]] = weft.slice %[[FLAT]] offsets [640] sizes [100] strides [1]
// CHECK: weft.reshape %[[C]] : tensor<100xf32> to tensor<1x100xf32>
// CHECK: %[[D:.*]] = weft.slice %[[FLAT]] offsets [768] sizes [128] strides [1]
// CHECK: weft.reshape %[[D]] : tensor<128xf32> to tensor<1x128xf32>
// CHECK: weft.concat {{.*}} : tensor<5xf64>, tensor<1xf64>, tensor<1xf64>
weft.param @flat : tensor<896xf32> {segments = [#weft.segment<@a [4, 128] at 0 to 512>, #weft.segment<@b [128] at 512 to 640>, #weft.segment<@c [100] at 640 to 740>, #weft.segment<@d [128] at 768 to 896>]}
weft.state @flat.grad : tensor<896xf32> {kind = #weft.state_kind<gradient>, param = @flat, slot = "grad", segments = [#weft.segment<@a [4, 128] at 0 to 512>, #weft.segment<@b [128] at 512 to 640>, #weft.segment<@c [100] at 640 to 740>, #weft.segment<@d [128] at 768 to 896>]}
weft.program @norm() -> (tensor<f64> {weft.output = "norm"}, tensor<i1> {weft.output = "bad"}) attributes {kind = #weft.kind<apply>} {
  %g = weft.read @flat.grad : tensor<896xf32>
  %a1 = weft.slice %g offsets [0] sizes [512] strides [1] : tensor<896xf32>
  %a = weft.reshape %a1 : tensor<512xf32> to tensor<4x128xf32>
  %b = weft.slice %g offsets [512] sizes [128] strides [1] : tensor<896xf32>
  %c = weft.slice %g offsets [640] sizes [100] strides [1] : tensor<896xf32>
  %d = weft.slice %g offsets [768] sizes [128] strides [1] : tensor<896xf32>
  %norm, %bad = weft.norm_and_check %a, %b, %c, %d {p = 2.0 : f64} : tensor<4x128xf32>, tensor<128xf32>, tensor<100xf32>, tensor<128xf32>
  weft.return %norm, %bad : tensor<f64>, tensor<i1>
}

// -----

// In another order they are one by one: the sums of a norm stay in the order of
// the parameters.
// CHECK-LABEL: weft.program @order(
// CHECK: weft.reshape {{.*}} to tensor<1x128xf32>
// CHECK: weft.reshape {{.*}} to tensor<4x128xf32>
weft.program @order(%g: tensor<640xf32> {weft.input = "g"}) -> (tensor<f64> {weft.output = "norm"}) attributes {kind = #weft.kind<apply>} {
  %a = weft.slice %g offsets [0] sizes [512] strides [1] : tensor<640xf32>
  %b = weft.slice %g offsets [512] sizes [128] strides [1] : tensor<640xf32>
  %norm, %bad = weft.norm_and_check %b, %a {p = 2.0 : f64} : tensor<128xf32>, tensor<512xf32>
  weft.return %norm : tensor<f64>
}
