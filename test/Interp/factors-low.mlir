// RUN: weft-interp %s --mode=f32 | FileCheck %s
// RUN: weft-opt %s --weft-decompose -o %t.mlir && weft-interp %t.mlir --mode=f32 | FileCheck %s

// In the types of the values, an update with factors by range that has a working copy
// or low parameters has in each range what an update with these numbers has.

// CHECK-LABEL: program @copy{{$}}
// CHECK-NEXT: flat = [[V:.*]]
// CHECK-NEXT: flat_m = [[V_m:.*]]
// CHECK-NEXT: flat_w = [[V_w:.*]]
// CHECK-NEXT: parts = [[V]]
// CHECK-NEXT: parts_m = [[V_m]]
// CHECK-NEXT: parts_w = [[V_w]]
weft.program @copy() -> (tensor<6xf32> {weft.output = "flat"}, tensor<6xf32> {weft.output = "flat_m"}, tensor<6xf16> {weft.output = "flat_w"}, tensor<6xf32> {weft.output = "parts"}, tensor<6xf32> {weft.output = "parts_m"}, tensor<6xf16> {weft.output = "parts_w"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<[-0.875, 1.0, 0.5, 1.875, -0.5, 2.0]> : tensor<6xf32>
  %m = weft.constant dense<[-0.875, 0.25, -0.875, -1.75, 0.5, 0.25]> : tensor<6xf32>
  %g = weft.constant dense<[-1.375, -1.875, -1.75, -1.0, 0.75, 1.5]> : tensor<6xf32>
  %c = weft.constant dense<0.7> : tensor<f32>
  %k = weft.constant dense<false> : tensor<i1>
  %s = weft.constant dense<3> : tensor<i64>
  %lr = weft.constant dense<0.1> : tensor<f64>
  %wd = weft.constant dense<0.25> : tensor<f64>
  %own = weft.constant dense<0.3> : tensor<f64>
  %mu = weft.constant dense<0.9> : tensor<f64>
  %f, %fm, %fw = weft.sgd(%p, %m, %g, %c, %k, %s, %lr, %wd, %mu) {factors = [#weft.factors<from 0>, #weft.factors<from 2, lr_scale = 0.3, decay_scale = 0.0>, #weft.factors<from 5, weight_decay = 0.3>]}
      : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf16>)
  %p0 = weft.slice %p offsets [0] sizes [2] strides [1] : tensor<6xf32>
  %m0 = weft.slice %m offsets [0] sizes [2] strides [1] : tensor<6xf32>
  %g0 = weft.slice %g offsets [0] sizes [2] strides [1] : tensor<6xf32>
  %np0, %nm0, %nw0 = weft.sgd(%p0, %m0, %g0, %c, %k, %s, %lr, %wd, %mu)
      : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf16>)
  %p1 = weft.slice %p offsets [2] sizes [3] strides [1] : tensor<6xf32>
  %m1 = weft.slice %m offsets [2] sizes [3] strides [1] : tensor<6xf32>
  %g1 = weft.slice %g offsets [2] sizes [3] strides [1] : tensor<6xf32>
  %np1, %nm1, %nw1 = weft.sgd(%p1, %m1, %g1, %c, %k, %s, %lr, %wd, %mu) {lr_scale = 0.3 : f64, decay_scale = 0.0 : f64}
      : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf16>)
  %p2 = weft.slice %p offsets [5] sizes [1] strides [1] : tensor<6xf32>
  %m2 = weft.slice %m offsets [5] sizes [1] strides [1] : tensor<6xf32>
  %g2 = weft.slice %g offsets [5] sizes [1] strides [1] : tensor<6xf32>
  %np2, %nm2, %nw2 = weft.sgd(%p2, %m2, %g2, %c, %k, %s, %lr, %own, %mu)
      : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf16>)
  %allp = weft.concat %np0, %np1, %np2 {dim = 0 : i64} : tensor<2xf32>, tensor<3xf32>, tensor<1xf32>
  %allm = weft.concat %nm0, %nm1, %nm2 {dim = 0 : i64} : tensor<2xf32>, tensor<3xf32>, tensor<1xf32>
  %allw = weft.concat %nw0, %nw1, %nw2 {dim = 0 : i64} : tensor<2xf16>, tensor<3xf16>, tensor<1xf16>
  weft.return %f, %fm, %fw, %allp, %allm, %allw : tensor<6xf32>, tensor<6xf32>, tensor<6xf16>, tensor<6xf32>, tensor<6xf32>, tensor<6xf16>
}

// CHECK-LABEL: program @low{{$}}
// CHECK-NEXT: flat = [[V:.*]]
// CHECK-NEXT: flat_m = [[V_m:.*]]
// CHECK-NEXT: flat_w = [[V_w:.*]]
// CHECK-NEXT: parts = [[V]]
// CHECK-NEXT: parts_m = [[V_m]]
// CHECK-NEXT: parts_w = [[V_w]]
weft.program @low() -> (tensor<6xbf16> {weft.output = "flat"}, tensor<6xf32> {weft.output = "flat_m"}, tensor<6xf16> {weft.output = "flat_w"}, tensor<6xbf16> {weft.output = "parts"}, tensor<6xf32> {weft.output = "parts_m"}, tensor<6xf16> {weft.output = "parts_w"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<[-0.875, 1.0, 0.5, 1.875, -0.5, 2.0]> : tensor<6xbf16>
  %m = weft.constant dense<[-0.875, 0.25, -0.875, -1.75, 0.5, 0.25]> : tensor<6xf32>
  %g = weft.constant dense<[-1.375, -1.875, -1.75, -1.0, 0.75, 1.5]> : tensor<6xbf16>
  %c = weft.constant dense<0.7> : tensor<f32>
  %k = weft.constant dense<false> : tensor<i1>
  %s = weft.constant dense<3> : tensor<i64>
  %lr = weft.constant dense<0.1> : tensor<f64>
  %wd = weft.constant dense<0.25> : tensor<f64>
  %own = weft.constant dense<0.3> : tensor<f64>
  %mu = weft.constant dense<0.9> : tensor<f64>
  %f, %fm, %fw = weft.sgd(%p, %m, %g, %c, %k, %s, %lr, %wd, %mu) {factors = [#weft.factors<from 0>, #weft.factors<from 2, lr_scale = 0.3, decay_scale = 0.0>, #weft.factors<from 5, weight_decay = 0.3>]}
      : (tensor<6xbf16>, tensor<6xf32>, tensor<6xbf16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<6xbf16>, tensor<6xf32>, tensor<6xf16>)
  %p0 = weft.slice %p offsets [0] sizes [2] strides [1] : tensor<6xbf16>
  %m0 = weft.slice %m offsets [0] sizes [2] strides [1] : tensor<6xf32>
  %g0 = weft.slice %g offsets [0] sizes [2] strides [1] : tensor<6xbf16>
  %np0, %nm0, %nw0 = weft.sgd(%p0, %m0, %g0, %c, %k, %s, %lr, %wd, %mu)
      : (tensor<2xbf16>, tensor<2xf32>, tensor<2xbf16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<2xbf16>, tensor<2xf32>, tensor<2xf16>)
  %p1 = weft.slice %p offsets [2] sizes [3] strides [1] : tensor<6xbf16>
  %m1 = weft.slice %m offsets [2] sizes [3] strides [1] : tensor<6xf32>
  %g1 = weft.slice %g offsets [2] sizes [3] strides [1] : tensor<6xbf16>
  %np1, %nm1, %nw1 = weft.sgd(%p1, %m1, %g1, %c, %k, %s, %lr, %wd, %mu) {lr_scale = 0.3 : f64, decay_scale = 0.0 : f64}
      : (tensor<3xbf16>, tensor<3xf32>, tensor<3xbf16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<3xbf16>, tensor<3xf32>, tensor<3xf16>)
  %p2 = weft.slice %p offsets [5] sizes [1] strides [1] : tensor<6xbf16>
  %m2 = weft.slice %m offsets [5] sizes [1] strides [1] : tensor<6xf32>
  %g2 = weft.slice %g offsets [5] sizes [1] strides [1] : tensor<6xbf16>
  %np2, %nm2, %nw2 = weft.sgd(%p2, %m2, %g2, %c, %k, %s, %lr, %own, %mu)
      : (tensor<1xbf16>, tensor<1xf32>, tensor<1xbf16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1xbf16>, tensor<1xf32>, tensor<1xf16>)
  %allp = weft.concat %np0, %np1, %np2 {dim = 0 : i64} : tensor<2xbf16>, tensor<3xbf16>, tensor<1xbf16>
  %allm = weft.concat %nm0, %nm1, %nm2 {dim = 0 : i64} : tensor<2xf32>, tensor<3xf32>, tensor<1xf32>
  %allw = weft.concat %nw0, %nw1, %nw2 {dim = 0 : i64} : tensor<2xf16>, tensor<3xf16>, tensor<1xf16>
  weft.return %f, %fm, %fw, %allp, %allm, %allw : tensor<6xbf16>, tensor<6xf32>, tensor<6xf16>, tensor<6xbf16>, tensor<6xf32>, tensor<6xf16>
}

// CHECK-LABEL: program @half{{$}}
// CHECK-NEXT: flat = [[V:.*]]
// CHECK-NEXT: flat_m = [[V_m:.*]]
// CHECK-NEXT: flat_w = [[V_w:.*]]
// CHECK-NEXT: parts = [[V]]
// CHECK-NEXT: parts_m = [[V_m]]
// CHECK-NEXT: parts_w = [[V_w]]
weft.program @half() -> (tensor<6xf16> {weft.output = "flat"}, tensor<6xf32> {weft.output = "flat_m"}, tensor<6xbf16> {weft.output = "flat_w"}, tensor<6xf16> {weft.output = "parts"}, tensor<6xf32> {weft.output = "parts_m"}, tensor<6xbf16> {weft.output = "parts_w"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<[-0.875, 1.0, 0.5, 1.875, -0.5, 2.0]> : tensor<6xf16>
  %m = weft.constant dense<[-0.875, 0.25, -0.875, -1.75, 0.5, 0.25]> : tensor<6xf32>
  %g = weft.constant dense<[-1.375, -1.875, -1.75, -1.0, 0.75, 1.5]> : tensor<6xf16>
  %c = weft.constant dense<0.7> : tensor<f32>
  %k = weft.constant dense<false> : tensor<i1>
  %s = weft.constant dense<3> : tensor<i64>
  %lr = weft.constant dense<0.1> : tensor<f64>
  %wd = weft.constant dense<0.25> : tensor<f64>
  %own = weft.constant dense<0.3> : tensor<f64>
  %mu = weft.constant dense<0.9> : tensor<f64>
  %f, %fm, %fw = weft.sgd(%p, %m, %g, %c, %k, %s, %lr, %wd, %mu) {factors = [#weft.factors<from 0>, #weft.factors<from 2, lr_scale = 0.3, decay_scale = 0.0>, #weft.factors<from 5, weight_decay = 0.3>]}
      : (tensor<6xf16>, tensor<6xf32>, tensor<6xf16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<6xf16>, tensor<6xf32>, tensor<6xbf16>)
  %p0 = weft.slice %p offsets [0] sizes [2] strides [1] : tensor<6xf16>
  %m0 = weft.slice %m offsets [0] sizes [2] strides [1] : tensor<6xf32>
  %g0 = weft.slice %g offsets [0] sizes [2] strides [1] : tensor<6xf16>
  %np0, %nm0, %nw0 = weft.sgd(%p0, %m0, %g0, %c, %k, %s, %lr, %wd, %mu)
      : (tensor<2xf16>, tensor<2xf32>, tensor<2xf16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<2xf16>, tensor<2xf32>, tensor<2xbf16>)
  %p1 = weft.slice %p offsets [2] sizes [3] strides [1] : tensor<6xf16>
  %m1 = weft.slice %m offsets [2] sizes [3] strides [1] : tensor<6xf32>
  %g1 = weft.slice %g offsets [2] sizes [3] strides [1] : tensor<6xf16>
  %np1, %nm1, %nw1 = weft.sgd(%p1, %m1, %g1, %c, %k, %s, %lr, %wd, %mu) {lr_scale = 0.3 : f64, decay_scale = 0.0 : f64}
      : (tensor<3xf16>, tensor<3xf32>, tensor<3xf16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<3xf16>, tensor<3xf32>, tensor<3xbf16>)
  %p2 = weft.slice %p offsets [5] sizes [1] strides [1] : tensor<6xf16>
  %m2 = weft.slice %m offsets [5] sizes [1] strides [1] : tensor<6xf32>
  %g2 = weft.slice %g offsets [5] sizes [1] strides [1] : tensor<6xf16>
  %np2, %nm2, %nw2 = weft.sgd(%p2, %m2, %g2, %c, %k, %s, %lr, %own, %mu)
      : (tensor<1xf16>, tensor<1xf32>, tensor<1xf16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1xf16>, tensor<1xf32>, tensor<1xbf16>)
  %allp = weft.concat %np0, %np1, %np2 {dim = 0 : i64} : tensor<2xf16>, tensor<3xf16>, tensor<1xf16>
  %allm = weft.concat %nm0, %nm1, %nm2 {dim = 0 : i64} : tensor<2xf32>, tensor<3xf32>, tensor<1xf32>
  %allw = weft.concat %nw0, %nw1, %nw2 {dim = 0 : i64} : tensor<2xbf16>, tensor<3xbf16>, tensor<1xbf16>
  weft.return %f, %fm, %fw, %allp, %allm, %allw : tensor<6xf16>, tensor<6xf32>, tensor<6xbf16>, tensor<6xf16>, tensor<6xf32>, tensor<6xbf16>
}
