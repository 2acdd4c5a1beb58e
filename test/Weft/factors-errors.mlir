// RUN: weft-opt %s -split-input-file -verify-diagnostics
// Every message of factors by range of elements.

// expected-error @below {{expects factors from element 0 or later, but got -1}}
module attributes {test.x = #weft.factors<from -1>} {}

// -----

// expected-error @below {{expects lr_scale, decay_scale or weight_decay, but got rate}}
module attributes {test.x = #weft.factors<from 0, rate = 1.0>} {}

// -----

// expected-error @below {{expects each factor once, but got lr_scale again}}
module attributes {test.x = #weft.factors<from 0, lr_scale = 2.0, lr_scale = 3.0>} {}

// -----

// expected-error @below {{expects a finite lr_scale, but got INF}}
module attributes {test.x = #weft.factors<from 0, lr_scale = 0x7FF0000000000000>} {}

// -----

// expected-error @below {{expects a finite decay_scale, but got nan}}
module attributes {test.x = #weft.factors<from 0, decay_scale = 0x7FF8000000000000>} {}

// -----

// expected-error @below {{expects a finite weight_decay, but got INF}}
module attributes {test.x = #weft.factors<from 0, weight_decay = 0x7FF0000000000000>} {}

// -----

weft.program @p(%p: tensor<8xf32> {weft.input = "p"}, %c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %d: tensor<f64> {weft.input = "d"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects at least one range of factors, but got []}}
  %n, %q = weft.sgd (%p, %p, %p, %c, %s, %t, %d, %d, %d) {factors = []} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<8xf32>, tensor<8xf32>)
  weft.return
}

// -----

weft.program @p(%p: tensor<8xf32> {weft.input = "p"}, %c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %d: tensor<f64> {weft.input = "d"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects the first factors to begin at element 0, but got 2}}
  %n, %q = weft.sgd (%p, %p, %p, %c, %s, %t, %d, %d, %d) {factors = [#weft.factors<from 2>]} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<8xf32>, tensor<8xf32>)
  weft.return
}

// -----

weft.program @p(%p: tensor<8xf32> {weft.input = "p"}, %c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %d: tensor<f64> {weft.input = "d"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects factors to begin after element 4, but got 4}}
  %n, %q = weft.sgd (%p, %p, %p, %c, %s, %t, %d, %d, %d) {factors = [#weft.factors<from 0>, #weft.factors<from 4, lr_scale = 2.0>, #weft.factors<from 4>]} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<8xf32>, tensor<8xf32>)
  weft.return
}

// -----

weft.program @p(%p: tensor<2x4xf32> {weft.input = "p"}, %c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %d: tensor<f64> {weft.input = "d"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects one dimension where factors go by range, but got 'tensor<2x4xf32>'}}
  %n, %q = weft.sgd (%p, %p, %p, %c, %s, %t, %d, %d, %d) {factors = [#weft.factors<from 0>]} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  weft.return
}

// -----

weft.program @p(%p: tensor<8xf32> {weft.input = "p"}, %c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %d: tensor<f64> {weft.input = "d"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects no lr_scale with factors by range, but got 2}}
  %n, %q = weft.sgd (%p, %p, %p, %c, %s, %t, %d, %d, %d) {lr_scale = 2.0 : f64, factors = [#weft.factors<from 0>]} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<8xf32>, tensor<8xf32>)
  weft.return
}

// -----

weft.program @p(%p: tensor<8xf32> {weft.input = "p"}, %c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %d: tensor<f64> {weft.input = "d"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects no decay_scale with factors by range, but got 0}}
  %n, %q = weft.sgd (%p, %p, %p, %c, %s, %t, %d, %d, %d) {decay_scale = 0.0 : f64, factors = [#weft.factors<from 0>]} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<8xf32>, tensor<8xf32>)
  weft.return
}

// -----

weft.program @p(%p: tensor<8xf32> {weft.input = "p"}, %c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %d: tensor<f64> {weft.input = "d"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects factors that begin inside the 8 elements, but got 8}}
  %n, %q = weft.sgd (%p, %p, %p, %c, %s, %t, %d, %d, %d) {factors = [#weft.factors<from 0>, #weft.factors<from 8, lr_scale = 2.0>]} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<8xf32>, tensor<8xf32>)
  weft.return
}

// -----

// expected-note @below {{declared here}}
weft.param @flat : tensor<8xf32> {segments = [#weft.segment<@a [3] at 0 to 3>, #weft.segment<@b [4] at 4 to 8>]}
weft.program @p(%c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %d: tensor<f64> {weft.input = "d"}) attributes {kind = #weft.kind<model>} {
  %p = weft.read @flat : tensor<8xf32>
  // expected-error @below {{expects equal factors in the segment of @b, but got others from 5}}
  %n, %q = weft.sgd (%p, %p, %p, %c, %s, %t, %d, %d, %d) {factors = [#weft.factors<from 0>, #weft.factors<from 3>, #weft.factors<from 5, lr_scale = 2.0>]} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<8xf32>, tensor<8xf32>)
  weft.return
}

// -----

weft.param @flat : tensor<8xf32> {slices = 2, segments = [#weft.segment<@a [8] at 0 to 8>]}
weft.program @p(%c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %d: tensor<f64> {weft.input = "d"}) attributes {kind = #weft.kind<model>} {
  %p = weft.read @flat : tensor<8xf32>
  // expected-error @below {{does not support factors by range in one of 2 slices yet; use weft-bucket on one rank}}
  %n, %q = weft.sgd (%p, %p, %p, %c, %s, %t, %d, %d, %d) {factors = [#weft.factors<from 0>]} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<8xf32>, tensor<8xf32>)
  weft.return
}
