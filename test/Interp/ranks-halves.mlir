// RUN: weft-interp %s --mode=f32 | FileCheck %s

// Means of halves on eight ranks: divided by 4, added up in f32, divided by 2.
// Gradients of 20000, whose sum no f16 can hold, and of 2^-22, an eighth of which
// is 0 in f16.

dist.mesh @mesh("dp" = 8)

// CHECK: first = 20000 : f16
// CHECK-NEXT: large = [20000] : 1xf16
// CHECK-NEXT: lost = [0] : 1xf16
// CHECK-NEXT: small = [2.38418579e-07] : 1xf16
weft.program @eval(%rank: tensor<i64> {weft.input = "rank"})
    -> (tensor<f16> {weft.output = "first"}, tensor<1xf16> {weft.output = "large"}, tensor<1xf16> {weft.output = "small"}, tensor<1xf16> {weft.output = "lost"})
    attributes {kind = #weft.kind<eval>} {
  %one = weft.constant dense<20000.0> : tensor<f16>
  %large = weft.constant dense<20000.0> : tensor<8xf16>
  %small = weft.constant dense<2.384185791015625e-07> : tensor<8xf16>
  %a = dist.reduce_scatter %large on @mesh {pre = 4.0 : f64, post = 2.0 : f64} : tensor<8xf16> to tensor<1xf16>
  %b = dist.reduce_scatter %small on @mesh {pre = 4.0 : f64, post = 2.0 : f64} : tensor<8xf16> to tensor<1xf16>
  %c = dist.reduce_scatter %small on @mesh {pre = 8.0 : f64, post = 1.0 : f64} : tensor<8xf16> to tensor<1xf16>
  weft.return %one, %a, %b, %c : tensor<f16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>
}
