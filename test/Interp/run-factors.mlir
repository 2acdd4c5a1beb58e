// RUN: weft-interp %s | FileCheck %s
// RUN: weft-opt %s --weft-decompose -o %t.mlir && weft-interp %t.mlir | FileCheck %s

// An update with factors by range has in each range what an update with these
// numbers has: three ranges, of which the outer ones are alike; another rate; a
// weight decay of its own.

// CHECK-LABEL: program @adamw{{$}}
// CHECK-NEXT: flat = [[V:.*]]
// CHECK-NEXT: flat_m = [[V_m:.*]]
// CHECK-NEXT: flat_v = [[V_v:.*]]
// CHECK-NEXT: parts = [[V]]
// CHECK-NEXT: parts_m = [[V_m]]
// CHECK-NEXT: parts_v = [[V_v]]
weft.program @adamw() -> (tensor<6xf32> {weft.output = "flat"}, tensor<6xf32> {weft.output = "flat_m"}, tensor<6xf32> {weft.output = "flat_v"}, tensor<6xf32> {weft.output = "parts"}, tensor<6xf32> {weft.output = "parts_m"}, tensor<6xf32> {weft.output = "parts_v"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<[-0.875, 1.0, 0.5, 1.875, -0.5, 2.0]> : tensor<6xf32>
  %m = weft.constant dense<[-0.875, 0.25, -0.875, -1.75, 0.5, 0.25]> : tensor<6xf32>
  %v = weft.constant dense<[1.75, 0.625, 0.125, 1.0, 0.5, 0.25]> : tensor<6xf32>
  %g = weft.constant dense<[-1.375, -1.875, -1.75, -1.0, 0.75, 1.5]> : tensor<6xf32>
  %c = weft.constant dense<0.5> : tensor<f32>
  %k = weft.constant dense<false> : tensor<i1>
  %s = weft.constant dense<3> : tensor<i64>
  %lr = weft.constant dense<0.125> : tensor<f64>
  %wd = weft.constant dense<0.25> : tensor<f64>
  %own = weft.constant dense<0.5> : tensor<f64>
  %b1 = weft.constant dense<0.875> : tensor<f64>
  %b2 = weft.constant dense<0.96875> : tensor<f64>
  %e = weft.constant dense<0.0009765625> : tensor<f64>
  %f, %fm, %fv = weft.adamw(%p, %m, %v, %g, %c, %k, %s, %lr, %wd, %b1, %b2, %e) {factors = [#weft.factors<from 0>, #weft.factors<from 2, lr_scale = 0.5, decay_scale = 0.0>, #weft.factors<from 3>, #weft.factors<from 5, weight_decay = 0.5>]}
      : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
  %p0 = weft.slice %p offsets [0] sizes [2] strides [1] : tensor<6xf32>
  %m0 = weft.slice %m offsets [0] sizes [2] strides [1] : tensor<6xf32>
  %v0 = weft.slice %v offsets [0] sizes [2] strides [1] : tensor<6xf32>
  %g0 = weft.slice %g offsets [0] sizes [2] strides [1] : tensor<6xf32>
  %np0, %nm0, %nv0 = weft.adamw(%p0, %m0, %v0, %g0, %c, %k, %s, %lr, %wd, %b1, %b2, %e)
      : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  %p1 = weft.slice %p offsets [2] sizes [1] strides [1] : tensor<6xf32>
  %m1 = weft.slice %m offsets [2] sizes [1] strides [1] : tensor<6xf32>
  %v1 = weft.slice %v offsets [2] sizes [1] strides [1] : tensor<6xf32>
  %g1 = weft.slice %g offsets [2] sizes [1] strides [1] : tensor<6xf32>
  %np1, %nm1, %nv1 = weft.adamw(%p1, %m1, %v1, %g1, %c, %k, %s, %lr, %wd, %b1, %b2, %e) {lr_scale = 0.5 : f64, decay_scale = 0.0 : f64}
      : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
  %p2 = weft.slice %p offsets [3] sizes [2] strides [1] : tensor<6xf32>
  %m2 = weft.slice %m offsets [3] sizes [2] strides [1] : tensor<6xf32>
  %v2 = weft.slice %v offsets [3] sizes [2] strides [1] : tensor<6xf32>
  %g2 = weft.slice %g offsets [3] sizes [2] strides [1] : tensor<6xf32>
  %np2, %nm2, %nv2 = weft.adamw(%p2, %m2, %v2, %g2, %c, %k, %s, %lr, %wd, %b1, %b2, %e)
      : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  %p3 = weft.slice %p offsets [5] sizes [1] strides [1] : tensor<6xf32>
  %m3 = weft.slice %m offsets [5] sizes [1] strides [1] : tensor<6xf32>
  %v3 = weft.slice %v offsets [5] sizes [1] strides [1] : tensor<6xf32>
  %g3 = weft.slice %g offsets [5] sizes [1] strides [1] : tensor<6xf32>
  %np3, %nm3, %nv3 = weft.adamw(%p3, %m3, %v3, %g3, %c, %k, %s, %lr, %own, %b1, %b2, %e)
      : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
  %allp = weft.concat %np0, %np1, %np2, %np3 {dim = 0 : i64} : tensor<2xf32>, tensor<1xf32>, tensor<2xf32>, tensor<1xf32>
  %allm = weft.concat %nm0, %nm1, %nm2, %nm3 {dim = 0 : i64} : tensor<2xf32>, tensor<1xf32>, tensor<2xf32>, tensor<1xf32>
  %allv = weft.concat %nv0, %nv1, %nv2, %nv3 {dim = 0 : i64} : tensor<2xf32>, tensor<1xf32>, tensor<2xf32>, tensor<1xf32>
  weft.return %f, %fm, %fv, %allp, %allm, %allv : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}

// CHECK-LABEL: program @adam{{$}}
// CHECK-NEXT: flat = [[V:.*]]
// CHECK-NEXT: flat_m = [[V_m:.*]]
// CHECK-NEXT: flat_v = [[V_v:.*]]
// CHECK-NEXT: parts = [[V]]
// CHECK-NEXT: parts_m = [[V_m]]
// CHECK-NEXT: parts_v = [[V_v]]
weft.program @adam() -> (tensor<6xf32> {weft.output = "flat"}, tensor<6xf32> {weft.output = "flat_m"}, tensor<6xf32> {weft.output = "flat_v"}, tensor<6xf32> {weft.output = "parts"}, tensor<6xf32> {weft.output = "parts_m"}, tensor<6xf32> {weft.output = "parts_v"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<[-0.875, 1.0, 0.5, 1.875, -0.5, 2.0]> : tensor<6xf32>
  %m = weft.constant dense<[-0.875, 0.25, -0.875, -1.75, 0.5, 0.25]> : tensor<6xf32>
  %v = weft.constant dense<[1.75, 0.625, 0.125, 1.0, 0.5, 0.25]> : tensor<6xf32>
  %g = weft.constant dense<[-1.375, -1.875, -1.75, -1.0, 0.75, 1.5]> : tensor<6xf32>
  %c = weft.constant dense<0.5> : tensor<f32>
  %k = weft.constant dense<false> : tensor<i1>
  %s = weft.constant dense<3> : tensor<i64>
  %lr = weft.constant dense<0.125> : tensor<f64>
  %wd = weft.constant dense<0.25> : tensor<f64>
  %own = weft.constant dense<0.5> : tensor<f64>
  %b1 = weft.constant dense<0.875> : tensor<f64>
  %b2 = weft.constant dense<0.96875> : tensor<f64>
  %e = weft.constant dense<0.0009765625> : tensor<f64>
  %f, %fm, %fv = weft.adam(%p, %m, %v, %g, %c, %k, %s, %lr, %wd, %b1, %b2, %e) {factors = [#weft.factors<from 0>, #weft.factors<from 2, lr_scale = 0.5, decay_scale = 0.0>, #weft.factors<from 3>, #weft.factors<from 5, weight_decay = 0.5>]}
      : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
  %p0 = weft.slice %p offsets [0] sizes [2] strides [1] : tensor<6xf32>
  %m0 = weft.slice %m offsets [0] sizes [2] strides [1] : tensor<6xf32>
  %v0 = weft.slice %v offsets [0] sizes [2] strides [1] : tensor<6xf32>
  %g0 = weft.slice %g offsets [0] sizes [2] strides [1] : tensor<6xf32>
  %np0, %nm0, %nv0 = weft.adam(%p0, %m0, %v0, %g0, %c, %k, %s, %lr, %wd, %b1, %b2, %e)
      : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  %p1 = weft.slice %p offsets [2] sizes [1] strides [1] : tensor<6xf32>
  %m1 = weft.slice %m offsets [2] sizes [1] strides [1] : tensor<6xf32>
  %v1 = weft.slice %v offsets [2] sizes [1] strides [1] : tensor<6xf32>
  %g1 = weft.slice %g offsets [2] sizes [1] strides [1] : tensor<6xf32>
  %np1, %nm1, %nv1 = weft.adam(%p1, %m1, %v1, %g1, %c, %k, %s, %lr, %wd, %b1, %b2, %e) {lr_scale = 0.5 : f64, decay_scale = 0.0 : f64}
      : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
  %p2 = weft.slice %p offsets [3] sizes [2] strides [1] : tensor<6xf32>
  %m2 = weft.slice %m offsets [3] sizes [2] strides [1] : tensor<6xf32>
  %v2 = weft.slice %v offsets [3] sizes [2] strides [1] : tensor<6xf32>
  %g2 = weft.slice %g offsets [3] sizes [2] strides [1] : tensor<6xf32>
  %np2, %nm2, %nv2 = weft.adam(%p2, %m2, %v2, %g2, %c, %k, %s, %lr, %wd, %b1, %b2, %e)
      : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  %p3 = weft.slice %p offsets [5] sizes [1] strides [1] : tensor<6xf32>
  %m3 = weft.slice %m offsets [5] sizes [1] strides [1] : tensor<6xf32>
  %v3 = weft.slice %v offsets [5] sizes [1] strides [1] : tensor<6xf32>
  %g3 = weft.slice %g offsets [5] sizes [1] strides [1] : tensor<6xf32>
  %np3, %nm3, %nv3 = weft.adam(%p3, %m3, %v3, %g3, %c, %k, %s, %lr, %own, %b1, %b2, %e)
      : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
  %allp = weft.concat %np0, %np1, %np2, %np3 {dim = 0 : i64} : tensor<2xf32>, tensor<1xf32>, tensor<2xf32>, tensor<1xf32>
  %allm = weft.concat %nm0, %nm1, %nm2, %nm3 {dim = 0 : i64} : tensor<2xf32>, tensor<1xf32>, tensor<2xf32>, tensor<1xf32>
  %allv = weft.concat %nv0, %nv1, %nv2, %nv3 {dim = 0 : i64} : tensor<2xf32>, tensor<1xf32>, tensor<2xf32>, tensor<1xf32>
  weft.return %f, %fm, %fv, %allp, %allm, %allv : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}

// CHECK-LABEL: program @sgd{{$}}
// CHECK-NEXT: flat = [[V:.*]]
// CHECK-NEXT: flat_m = [[V_m:.*]]
// CHECK-NEXT: parts = [[V]]
// CHECK-NEXT: parts_m = [[V_m]]
weft.program @sgd() -> (tensor<6xf32> {weft.output = "flat"}, tensor<6xf32> {weft.output = "flat_m"}, tensor<6xf32> {weft.output = "parts"}, tensor<6xf32> {weft.output = "parts_m"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<[-0.875, 1.0, 0.5, 1.875, -0.5, 2.0]> : tensor<6xf32>
  %m = weft.constant dense<[-0.875, 0.25, -0.875, -1.75, 0.5, 0.25]> : tensor<6xf32>
  %g = weft.constant dense<[-1.375, -1.875, -1.75, -1.0, 0.75, 1.5]> : tensor<6xf32>
  %c = weft.constant dense<0.5> : tensor<f32>
  %k = weft.constant dense<false> : tensor<i1>
  %s = weft.constant dense<3> : tensor<i64>
  %lr = weft.constant dense<0.125> : tensor<f64>
  %wd = weft.constant dense<0.25> : tensor<f64>
  %own = weft.constant dense<0.5> : tensor<f64>
  %mu = weft.constant dense<0.875> : tensor<f64>
  %f, %fm = weft.sgd(%p, %m, %g, %c, %k, %s, %lr, %wd, %mu) {factors = [#weft.factors<from 0>, #weft.factors<from 2, lr_scale = 0.5, decay_scale = 0.0>, #weft.factors<from 3>, #weft.factors<from 5, weight_decay = 0.5>]}
      : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<6xf32>, tensor<6xf32>)
  %p0 = weft.slice %p offsets [0] sizes [2] strides [1] : tensor<6xf32>
  %m0 = weft.slice %m offsets [0] sizes [2] strides [1] : tensor<6xf32>
  %g0 = weft.slice %g offsets [0] sizes [2] strides [1] : tensor<6xf32>
  %np0, %nm0 = weft.sgd(%p0, %m0, %g0, %c, %k, %s, %lr, %wd, %mu)
      : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<2xf32>, tensor<2xf32>)
  %p1 = weft.slice %p offsets [2] sizes [1] strides [1] : tensor<6xf32>
  %m1 = weft.slice %m offsets [2] sizes [1] strides [1] : tensor<6xf32>
  %g1 = weft.slice %g offsets [2] sizes [1] strides [1] : tensor<6xf32>
  %np1, %nm1 = weft.sgd(%p1, %m1, %g1, %c, %k, %s, %lr, %wd, %mu) {lr_scale = 0.5 : f64, decay_scale = 0.0 : f64}
      : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1xf32>, tensor<1xf32>)
  %p2 = weft.slice %p offsets [3] sizes [2] strides [1] : tensor<6xf32>
  %m2 = weft.slice %m offsets [3] sizes [2] strides [1] : tensor<6xf32>
  %g2 = weft.slice %g offsets [3] sizes [2] strides [1] : tensor<6xf32>
  %np2, %nm2 = weft.sgd(%p2, %m2, %g2, %c, %k, %s, %lr, %wd, %mu)
      : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<2xf32>, tensor<2xf32>)
  %p3 = weft.slice %p offsets [5] sizes [1] strides [1] : tensor<6xf32>
  %m3 = weft.slice %m offsets [5] sizes [1] strides [1] : tensor<6xf32>
  %g3 = weft.slice %g offsets [5] sizes [1] strides [1] : tensor<6xf32>
  %np3, %nm3 = weft.sgd(%p3, %m3, %g3, %c, %k, %s, %lr, %own, %mu)
      : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1xf32>, tensor<1xf32>)
  %allp = weft.concat %np0, %np1, %np2, %np3 {dim = 0 : i64} : tensor<2xf32>, tensor<1xf32>, tensor<2xf32>, tensor<1xf32>
  %allm = weft.concat %nm0, %nm1, %nm2, %nm3 {dim = 0 : i64} : tensor<2xf32>, tensor<1xf32>, tensor<2xf32>, tensor<1xf32>
  weft.return %f, %fm, %allp, %allm : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}
