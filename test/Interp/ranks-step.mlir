// RUN: weft-interp %s --steps=1 --save-state=%t.state > %t.out
// RUN: FileCheck %s < %t.out
// RUN: weft-interp %S/Inputs/look-at-w.mlir --state=%t.state | FileCheck %s --check-prefix=WHOLE
// RUN: weft-interp %s --steps=1 --each-rank | FileCheck %s --check-prefix=RANKS
// RUN: weft-interp %s --program=micro --state=%t.state --each-rank | FileCheck %s --check-prefix=SLICES
// RUN: weft-interp %s --steps=1 --mode=f32 | FileCheck %s

// Seven weights on four ranks, which hold two each, the last one and one of
// padding: w = 1 to 7, the loss of rank r is (r + 1) sum(w), the learning rate
// 0.1. The mean gradient is 2.5, so w becomes w - 0.25.

dist.mesh @mesh("dp" = 4)
weft.param @w.flat : tensor<2xf32> {slices = 4, segments = [#weft.segment<@w [7] at 0 to 7>]}
weft.state @w.flat.grad : tensor<2xf32> {kind = #weft.state_kind<gradient>, param = @w.flat, slot = "grad", slices = 4, segments = [#weft.segment<@w [7] at 0 to 7>]}

weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
  %w = weft.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 0.0]> : tensor<8xf32>
  %own = dist.reduce_scatter %w on @mesh {pre = 2.0 : f64, post = 2.0 : f64} : tensor<8xf32> to tensor<2xf32>
  weft.return writes @w.flat = %own : tensor<2xf32>
}

// RANKS: rank 0: loss = 28 : f32
// RANKS-NEXT: rank 1: loss = 56 : f32
// RANKS-NEXT: rank 2: loss = 84 : f32
// RANKS-NEXT: rank 3: loss = 112 : f32
// SLICES: rank 0: loss = 26.25 : f32
// SLICES-NEXT: rank 0: @w.flat.grad = [2.5, 2.5] : 2xf32
// SLICES-NEXT: rank 1: loss = 52.{{5|4999999}} : f32
// SLICES: rank 3: @w.flat.grad = [2.5, 0] : 2xf32
weft.program @micro(%rank: tensor<i64> {weft.input = "rank"}) -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %own = weft.read @w.flat : tensor<2xf32>
  %all = dist.all_gather %own on @mesh : tensor<2xf32> to tensor<8xf32>
  %w = weft.slice %all offsets [0] sizes [7] strides [1] : tensor<8xf32>
  %sum = weft.reduce sum %w dims [0] : tensor<7xf32>
  %r = weft.cast %rank : tensor<i64> to tensor<f32>
  %one = weft.constant dense<1.0> : tensor<f32>
  %factor = weft.add %r, %one : tensor<f32>, tensor<f32>
  %loss = weft.mul %sum, %factor : tensor<f32>, tensor<f32>
  %ones = weft.constant dense<[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0]> : tensor<8xf32>
  %grads = weft.mul %ones, %factor : tensor<8xf32>, tensor<f32>
  %grad = dist.reduce_scatter %grads on @mesh {pre = 2.0 : f64, post = 2.0 : f64} : tensor<8xf32> to tensor<2xf32>
  weft.return %loss : tensor<f32> writes @w.flat.grad = %grad : tensor<2xf32>
}

// CHECK: loss = 28 : f32
// CHECK-NEXT: clipped = [0.37796{{[0-9]*}}, 0.37796{{[0-9]*}}] : 2xf32
// CHECK-NEXT: found_inf = 0 : i1
// CHECK-NEXT: l1 = 17.5 : f64
// CHECK-NEXT: l2 = 6.6143782{{[0-9]*}} : f64
// CHECK-NEXT: l3 = 4.7823{{[0-9]*}} : f64
// CHECK-NEXT: linf = 2.5 : f64
// RANKS: rank 3: clipped = [0.37796{{[0-9]*}}, 0] : 2xf32
// RANKS-NEXT: rank 3: found_inf = 0 : i1
// RANKS-NEXT: rank 3: l1 = 17.5 : f64
weft.program @apply(%max: tensor<f64> {weft.input = "max_norm"})
    -> (tensor<f64> {weft.output = "l1"}, tensor<f64> {weft.output = "l2"}, tensor<f64> {weft.output = "l3"}, tensor<f64> {weft.output = "linf"},
        tensor<i1> {weft.output = "found_inf"}, tensor<2xf32> {weft.output = "clipped"}) attributes {kind = #weft.kind<apply>} {
  %w = weft.read @w.flat : tensor<2xf32>
  %g = weft.read @w.flat.grad : tensor<2xf32>
  %n1, %b1 = weft.norm_and_check %g {p = 1.0 : f64, powers} : tensor<2xf32>
  %n2, %b2 = weft.norm_and_check %g {p = 2.0 : f64, powers} : tensor<2xf32>
  %n3, %b3 = weft.norm_and_check %g {p = 3.0 : f64, powers} : tensor<2xf32>
  %ni, %bi = weft.norm_and_check %g {p = 0x7FF0000000000000 : f64, powers} : tensor<2xf32>
  %s1, %s2, %s3, %inf, %bad = dist.all_reduce %n1, %n2, %n3, %ni, %b1 by [sum, sum, sum, max, or] on @mesh
      : tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<i1>
  %l1 = weft.total_norm %s1 skip %bad {p = 1.0 : f64, powers}
  %l2 = weft.total_norm %s2 skip %bad {p = 2.0 : f64, powers}
  %l3 = weft.total_norm %s3 skip %bad {p = 3.0 : f64, powers}
  %coef = weft.clip_coefficient %l2, %max
  %clipped = weft.mul %g, %coef : tensor<2xf32>, tensor<f32>
  %lr = weft.constant dense<0.1> : tensor<f32>
  %step = weft.mul %g, %lr : tensor<2xf32>, tensor<f32>
  %new = weft.sub %w, %step : tensor<2xf32>, tensor<2xf32>
  weft.return %l1, %l2, %l3, %inf, %bad, %clipped : tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<i1>, tensor<2xf32> writes @w.flat = %new : tensor<2xf32>
}

// WHOLE: grad = [2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5] : 7xf32
// WHOLE-NEXT: w = [0.7{{5|49999996}}, 1.75, 2.75, 3.75, 4.75, 5.75, 6.75] : 7xf32
