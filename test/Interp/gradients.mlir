// RUN: weft-interp %s | FileCheck %s
// RUN: weft-opt %s --weft-decompose -o %t.mlir && weft-interp %t.mlir | FileCheck %s

// Gradient norms of every order, the finite check and the clip coefficient.
// Values: test/Interp/reference.py (PyTorch in float64).

// CHECK-LABEL: program @norms{{$}}
// CHECK-NEXT: bad_clip = 1 : f32
// CHECK-NEXT: bad_inf = 1 : i1
// CHECK-NEXT: bad_norm = inf : f64
// CHECK-NEXT: clip = 0.274146897 : f32
// CHECK-NEXT: found_inf = 0 : i1
// CHECK-NEXT: no_clip = 1 : f32
// CHECK-NEXT: norm_1 = 6.125 : f64
// CHECK-NEXT: norm_2 = 2.73575858 : f64
// CHECK-NEXT: norm_3 = 2.24781166 : f64
// CHECK-NEXT: norm_inf = 2 : f64
// CHECK-NEXT: small_clip = 1 : f32
weft.program @norms() -> (tensor<f64> {weft.output = "norm_1"}, tensor<f64> {weft.output = "norm_2"}, tensor<f64> {weft.output = "norm_3"}, tensor<f64> {weft.output = "norm_inf"}, tensor<i1> {weft.output = "found_inf"}, tensor<f64> {weft.output = "bad_norm"}, tensor<i1> {weft.output = "bad_inf"}, tensor<f32> {weft.output = "clip"}, tensor<f32> {weft.output = "no_clip"}, tensor<f32> {weft.output = "small_clip"}, tensor<f32> {weft.output = "bad_clip"})
    attributes {kind = #weft.kind<eval>} {
  %g0 = weft.constant dense<[0.5, 0.625, 1.125]> : tensor<3xf32>
  %g1 = weft.constant dense<[[-1.125, -0.5], [-2.0, 0.25]]> : tensor<2x2xf32>
  %bad = weft.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %limit = weft.constant dense<0.75> : tensor<f64>
  %off = weft.constant dense<0.0> : tensor<f64>
  %n1, %f1 = weft.norm_and_check %g0, %g1 {p = 1.0 : f64} : tensor<3xf32>, tensor<2x2xf32>
  %n2, %f2 = weft.norm_and_check %g0, %g1 {p = 2.0 : f64} : tensor<3xf32>, tensor<2x2xf32>
  %n3, %f3 = weft.norm_and_check %g0, %g1 {p = 3.0 : f64} : tensor<3xf32>, tensor<2x2xf32>
  %ninf, %finf = weft.norm_and_check %g0, %g1 {p = 0x7FF0000000000000 : f64} : tensor<3xf32>, tensor<2x2xf32>
  %inf = weft.reciprocal %bad : tensor<2xf32>
  %nb, %fb = weft.norm_and_check %g0, %inf {p = 2.0 : f64} : tensor<3xf32>, tensor<2xf32>
  %clip = weft.clip_coefficient %n2, %limit
  %no_clip = weft.clip_coefficient %n2, %off
  %large = weft.mul %n2, %n2 : tensor<f64>, tensor<f64>
  %small_clip = weft.clip_coefficient %n2, %large
  %bad_clip = weft.clip_coefficient %nb, %limit
  weft.return %n1, %n2, %n3, %ninf, %f2, %nb, %fb, %clip, %no_clip, %small_clip, %bad_clip : tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<i1>, tensor<f64>, tensor<i1>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
