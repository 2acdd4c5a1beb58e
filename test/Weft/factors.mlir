// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt | FileCheck %s
// Factors by range of elements print so that they parse back; a range may begin
// in a gap.

weft.param @flat : tensor<16xf32> {segments = [#weft.segment<@a [3] at 0 to 3>, #weft.segment<@b [4] at 8 to 12>, #weft.segment<@c [4] at 12 to 16>]}

// CHECK: weft.sgd(%{{.*}}) {factors = [#weft.factors<from 0>, #weft.factors<from 5, lr_scale = 2.000000e+00>, #weft.factors<from 12, decay_scale = 0.000000e+00, weight_decay = 1.000000e-01>], nesterov}
weft.program @p(%c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %d: tensor<f64> {weft.input = "d"}) attributes {kind = #weft.kind<apply>} {
  %p = weft.read @flat : tensor<16xf32>
  %n, %q = weft.sgd (%p, %p, %p, %c, %s, %t, %d, %d, %d)
      {nesterov, factors = [#weft.factors<from 0>, #weft.factors<from 5, lr_scale = 2.0>, #weft.factors<from 12, decay_scale = 0.0, weight_decay = 0.1>]}
      : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<16xf32>, tensor<16xf32>)
  weft.return
}
