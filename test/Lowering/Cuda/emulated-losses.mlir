// REQUIRES: full
// RUN: rm -rf %t && %python %S/Inputs/emulate.py %s %t 1 | FileCheck %s
// Cross-entropy, accuracy and dropout as kernels of a device, for vocabularies that no chunk and no block divides.

// CHECK-COUNT-17: {{^k_.*: equal$}}
// CHECK-NEXT: {{^23 results of 17 kernels as the interpreter computes them$}}
// CHECK-NOT: {{.}}
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.program @vocabulary(%x: tensor<3x50257xf32> {weft.input = "x"}, %t: tensor<3xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"})
    -> (tensor<f32> {weft.output = "l"}, tensor<3x50257xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<3x50257xf32>, tensor<3xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n : tensor<f32>, tensor<3x50257xf32>, tensor<3xi32>, tensor<3xf32>
  weft.return %l, %d : tensor<f32>, tensor<3x50257xf32>
}
weft.program @low(%x: tensor<20x1003xbf16> {weft.input = "x"}, %t: tensor<20xi64> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"}, %w: tensor<1003xf32> {weft.input = "w"})
    -> (tensor<f32> {weft.output = "l"}, tensor<20x1003xbf16> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %l, %lse, %n = weft.cross_entropy %x, %t weight %w : tensor<1003xf32> {ignore_index = 5, label_smoothing = 0.1 : f64} : tensor<20x1003xbf16>, tensor<20xi64>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n weight %w : tensor<1003xf32> {ignore_index = 5, label_smoothing = 0.1 : f64} : tensor<f32>, tensor<20x1003xbf16>, tensor<20xi64>, tensor<20xf32>
  weft.return %l, %d : tensor<f32>, tensor<20x1003xbf16>
}
weft.program @hits(%x: tensor<20x1003xf32> {weft.input = "x"}, %y: tensor<3x50257xbf16> {weft.input = "y"}, %t: tensor<20xi32> {weft.input = "t"}, %s: tensor<3xi64> {weft.input = "s"})
    -> (tensor<f32> {weft.output = "a"}, tensor<f32> {weft.output = "b"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.accuracy %x, %t {ignore_index = 1} : tensor<20x1003xf32>, tensor<20xi32>
  %b = weft.accuracy %y, %s : tensor<3x50257xbf16>, tensor<3xi64>
  weft.return %a, %b : tensor<f32>, tensor<f32>
}
weft.program @drop(%x: tensor<5x3x64xf16> {weft.input = "x"}, %y: tensor<4x33xf32> {weft.input = "y"}, %r: tensor<2xi64> {weft.input = "rng"})
    -> (tensor<5x3x64xf16> {weft.output = "d"}, tensor<4x33xf32> {weft.output = "e"}) attributes {kind = #weft.kind<eval>} {
  %d = weft.dropout %x rng %r : tensor<2xi64> {p = 0.3 : f64, op_id = 4} : tensor<5x3x64xf16>
  %e = weft.dropout %y rng %r : tensor<2xi64> {p = 0.1 : f64, op_id = 5} : tensor<4x33xf32>
  weft.return %d, %e : tensor<5x3x64xf16>, tensor<4x33xf32>
}
weft.program @init(%s: tensor<i64> {weft.input = "seed"})
    -> (tensor<1003xf32> {weft.output = "n"}, tensor<70x64xf32> {weft.output = "u"}) attributes {kind = #weft.kind<init>} {
  %n = weft.random_normal %s {key = "a", mean = 1.0 : f64, std = 0.5 : f64} : tensor<1003xf32>
  %u = weft.random_uniform %s {key = "b", low = -1.0 : f64, high = 0.5 : f64} : tensor<70x64xf32>
  weft.return %n, %u : tensor<1003xf32>, tensor<70x64xf32>
}
}
