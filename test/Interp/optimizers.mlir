// RUN: weft-interp %s | FileCheck %s
// RUN: weft-opt %s --weft-decompose -o %t.mlir && weft-interp %t.mlir | FileCheck %s

// Optimizer updates against torch.optim.
// Values: test/Interp/reference.py (PyTorch in float64).

// CHECK-LABEL: program @adamw{{$}}
// CHECK-NEXT: exp_avg = [-0.8515625, 0.1015625, -0.875, -1.59375] : 4xf32
// CHECK-NEXT: exp_avg_sq = [1.71008301, 0.63293457, 0.145019531, 0.9765625] : 4xf32
// CHECK-NEXT: param = [-0.773342717, 0.95418364, 0.746444793, 2.00044046] : 4xf32
weft.program @adamw() -> (tensor<4xf32> {weft.output = "param"}, tensor<4xf32> {weft.output = "exp_avg"}, tensor<4xf32> {weft.output = "exp_avg_sq"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<[-0.875, 1.0, 0.5, 1.875]> : tensor<4xf32>
  %m = weft.constant dense<[-0.875, 0.25, -0.875, -1.75]> : tensor<4xf32>
  %v = weft.constant dense<[1.75, 0.625, 0.125, 1.0]> : tensor<4xf32>
  %g = weft.constant dense<[-1.375, -1.875, -1.75, -1.0]> : tensor<4xf32>
  %c = weft.constant dense<0.5> : tensor<f32>
  %k = weft.constant dense<false> : tensor<i1>
  %s = weft.constant dense<3> : tensor<i64>
  %lr = weft.constant dense<0.125> : tensor<f64>
  %wd = weft.constant dense<0.25> : tensor<f64>
  %b1 = weft.constant dense<0.875> : tensor<f64>
  %b2 = weft.constant dense<0.96875> : tensor<f64>
  %e = weft.constant dense<0.0009765625> : tensor<f64>
  %np, %nm, %nv = weft.adamw(%p, %m, %v, %g, %c, %k, %s, %lr, %wd, %b1, %b2, %e)
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  weft.return %np, %nm, %nv : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: program @adamw_scaled{{$}}
// CHECK-NEXT: exp_avg = [-1.171875, -1.8125, -0.296875, 1.859375] : 4xf32
// CHECK-NEXT: exp_avg_sq = [1.21484375, 0.180175781, 1.88671875, 0.458984375] : 4xf32
// CHECK-NEXT: param = [0.968961096, -0.872733511, 1.01910119, 1.2574773] : 4xf32
weft.program @adamw_scaled() -> (tensor<4xf32> {weft.output = "param"}, tensor<4xf32> {weft.output = "exp_avg"}, tensor<4xf32> {weft.output = "exp_avg_sq"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<[0.875, -1.25, 1.0, 1.5]> : tensor<4xf32>
  %m = weft.constant dense<[-1.625, -1.875, -0.125, 1.875]> : tensor<4xf32>
  %v = weft.constant dense<[1.125, 0.125, 1.875, 0.375]> : tensor<4xf32>
  %g = weft.constant dense<[2.0, -1.375, -1.5, 1.75]> : tensor<4xf32>
  %c = weft.constant dense<1.0> : tensor<f32>
  %k = weft.constant dense<false> : tensor<i1>
  %s = weft.constant dense<1> : tensor<i64>
  %lr = weft.constant dense<0.125> : tensor<f64>
  %wd = weft.constant dense<0.25> : tensor<f64>
  %b1 = weft.constant dense<0.875> : tensor<f64>
  %b2 = weft.constant dense<0.96875> : tensor<f64>
  %e = weft.constant dense<0.0009765625> : tensor<f64>
  %np, %nm, %nv = weft.adamw(%p, %m, %v, %g, %c, %k, %s, %lr, %wd, %b1, %b2, %e) {lr_scale = 0.5 : f64, decay_scale = 0.0 : f64}
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  weft.return %np, %nm, %nv : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: program @adamw_skipped{{$}}
// CHECK-NEXT: exp_avg = [-0.375, -0.25, 1.625, 1.875] : 4xf32
// CHECK-NEXT: exp_avg_sq = [1.625, 0.375, 2, 1.25] : 4xf32
// CHECK-NEXT: param = [0, -1.5, 0, -0.125] : 4xf32
weft.program @adamw_skipped() -> (tensor<4xf32> {weft.output = "param"}, tensor<4xf32> {weft.output = "exp_avg"}, tensor<4xf32> {weft.output = "exp_avg_sq"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<[0.0, -1.5, 0.0, -0.125]> : tensor<4xf32>
  %m = weft.constant dense<[-0.375, -0.25, 1.625, 1.875]> : tensor<4xf32>
  %v = weft.constant dense<[1.625, 0.375, 2.0, 1.25]> : tensor<4xf32>
  %g = weft.constant dense<[-1.75, -0.5, -1.5, -0.875]> : tensor<4xf32>
  %c = weft.constant dense<0.5> : tensor<f32>
  %k = weft.constant dense<true> : tensor<i1>
  %s = weft.constant dense<3> : tensor<i64>
  %lr = weft.constant dense<0.125> : tensor<f64>
  %wd = weft.constant dense<0.25> : tensor<f64>
  %b1 = weft.constant dense<0.875> : tensor<f64>
  %b2 = weft.constant dense<0.96875> : tensor<f64>
  %e = weft.constant dense<0.0009765625> : tensor<f64>
  %np, %nm, %nv = weft.adamw(%p, %m, %v, %g, %c, %k, %s, %lr, %wd, %b1, %b2, %e)
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  weft.return %np, %nm, %nv : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: program @adam{{$}}
// CHECK-NEXT: exp_avg = [-1.71484375, 1.546875, -1.30859375, 1.7109375] : 4xf32
// CHECK-NEXT: exp_avg_sq = [1.09231567, 0.484863281, 0.873321533, 1.9473877] : 4xf32
// CHECK-NEXT: param = [0.812234509, -0.25346602, 0.534785993, -1.13991815] : 4xf32
weft.program @adam() -> (tensor<4xf32> {weft.output = "param"}, tensor<4xf32> {weft.output = "exp_avg"}, tensor<4xf32> {weft.output = "exp_avg_sq"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<[0.625, 0.0, 0.375, -1.0]> : tensor<4xf32>
  %m = weft.constant dense<[-2.0, 1.75, -1.625, 1.875]> : tensor<4xf32>
  %v = weft.constant dense<[1.125, 0.5, 0.875, 2.0]> : tensor<4xf32>
  %g = weft.constant dense<[0.25, 0.25, 1.625, 1.625]> : tensor<4xf32>
  %c = weft.constant dense<0.5> : tensor<f32>
  %k = weft.constant dense<false> : tensor<i1>
  %s = weft.constant dense<3> : tensor<i64>
  %lr = weft.constant dense<0.125> : tensor<f64>
  %wd = weft.constant dense<0.25> : tensor<f64>
  %b1 = weft.constant dense<0.875> : tensor<f64>
  %b2 = weft.constant dense<0.96875> : tensor<f64>
  %e = weft.constant dense<0.0009765625> : tensor<f64>
  %np, %nm, %nv = weft.adam(%p, %m, %v, %g, %c, %k, %s, %lr, %wd, %b1, %b2, %e)
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  weft.return %np, %nm, %nv : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: program @sgd_plain{{$}}
// CHECK-NEXT: momentum_buffer = [-0.53125, -0.15625, 0.6875] : 3xf32
// CHECK-NEXT: param = [1.69140625, -1.10546875, -0.5859375] : 3xf32
weft.program @sgd_plain() -> (tensor<3xf32> {weft.output = "param"}, tensor<3xf32> {weft.output = "momentum_buffer"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<[1.625, -1.125, -0.5]> : tensor<3xf32>
  %b = weft.constant dense<[0.375, -1.375, 1.75]> : tensor<3xf32>
  %g = weft.constant dense<[-1.875, 0.25, 1.625]> : tensor<3xf32>
  %c = weft.constant dense<0.5> : tensor<f32>
  %k = weft.constant dense<false> : tensor<i1>
  %s = weft.constant dense<2> : tensor<i64>
  %lr = weft.constant dense<0.125> : tensor<f64>
  %wd = weft.constant dense<0.25> : tensor<f64>
  %mu = weft.constant dense<0.0> : tensor<f64>
  %np, %nb = weft.sgd(%p, %b, %g, %c, %k, %s, %lr, %wd, %mu)
      : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<3xf32>, tensor<3xf32>)
  weft.return %np, %nb : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: program @sgd_first{{$}}
// CHECK-NEXT: momentum_buffer = [-0.5625, -0.25, -0.3125] : 3xf32
// CHECK-NEXT: param = [-1.4296875, 2.03125, 1.5390625] : 3xf32
weft.program @sgd_first() -> (tensor<3xf32> {weft.output = "param"}, tensor<3xf32> {weft.output = "momentum_buffer"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<[-1.5, 2.0, 1.5]> : tensor<3xf32>
  %b = weft.constant dense<[0.125, 1.0, -0.375]> : tensor<3xf32>
  %g = weft.constant dense<[-0.375, -1.5, -1.375]> : tensor<3xf32>
  %c = weft.constant dense<0.5> : tensor<f32>
  %k = weft.constant dense<false> : tensor<i1>
  %s = weft.constant dense<1> : tensor<i64>
  %lr = weft.constant dense<0.125> : tensor<f64>
  %wd = weft.constant dense<0.25> : tensor<f64>
  %mu = weft.constant dense<0.875> : tensor<f64>
  %np, %nb = weft.sgd(%p, %b, %g, %c, %k, %s, %lr, %wd, %mu)
      : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<3xf32>, tensor<3xf32>)
  weft.return %np, %nb : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: program @sgd_momentum{{$}}
// CHECK-NEXT: momentum_buffer = [-1.65625, 2.1875, 0.203125] : 3xf32
// CHECK-NEXT: param = [-0.66796875, -0.2734375, 0.849609375] : 3xf32
weft.program @sgd_momentum() -> (tensor<3xf32> {weft.output = "param"}, tensor<3xf32> {weft.output = "momentum_buffer"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<[-0.875, 0.0, 0.875]> : tensor<3xf32>
  %b = weft.constant dense<[-1.0, 2.0, 0.125]> : tensor<3xf32>
  %g = weft.constant dense<[-1.125, 0.875, -0.25]> : tensor<3xf32>
  %c = weft.constant dense<0.5> : tensor<f32>
  %k = weft.constant dense<false> : tensor<i1>
  %s = weft.constant dense<2> : tensor<i64>
  %lr = weft.constant dense<0.125> : tensor<f64>
  %wd = weft.constant dense<0.25> : tensor<f64>
  %mu = weft.constant dense<0.875> : tensor<f64>
  %np, %nb = weft.sgd(%p, %b, %g, %c, %k, %s, %lr, %wd, %mu)
      : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<3xf32>, tensor<3xf32>)
  weft.return %np, %nb : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: program @sgd_nesterov{{$}}
// CHECK-NEXT: momentum_buffer = [-0.234375, 0.5625, -0.90625] : 3xf32
// CHECK-NEXT: param = [1.72485352, 1.66113281, 1.11865234] : 3xf32
weft.program @sgd_nesterov() -> (tensor<3xf32> {weft.output = "param"}, tensor<3xf32> {weft.output = "momentum_buffer"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<[1.875, 1.875, 1.125]> : tensor<3xf32>
  %b = weft.constant dense<[-1.875, -0.75, -2.0]> : tensor<3xf32>
  %g = weft.constant dense<[1.875, 1.5, 1.125]> : tensor<3xf32>
  %c = weft.constant dense<0.5> : tensor<f32>
  %k = weft.constant dense<false> : tensor<i1>
  %s = weft.constant dense<2> : tensor<i64>
  %lr = weft.constant dense<0.125> : tensor<f64>
  %wd = weft.constant dense<0.25> : tensor<f64>
  %mu = weft.constant dense<0.875> : tensor<f64>
  %np, %nb = weft.sgd(%p, %b, %g, %c, %k, %s, %lr, %wd, %mu) {nesterov}
      : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<3xf32>, tensor<3xf32>)
  weft.return %np, %nb : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: program @sgd_skipped{{$}}
// CHECK-NEXT: momentum_buffer = [0.75, 1, 0.5] : 3xf32
// CHECK-NEXT: param = [0.375, -0.875, 1.25] : 3xf32
weft.program @sgd_skipped() -> (tensor<3xf32> {weft.output = "param"}, tensor<3xf32> {weft.output = "momentum_buffer"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<[0.375, -0.875, 1.25]> : tensor<3xf32>
  %b = weft.constant dense<[0.75, 1.0, 0.5]> : tensor<3xf32>
  %g = weft.constant dense<[-1.125, 0.625, -2.0]> : tensor<3xf32>
  %c = weft.constant dense<0.5> : tensor<f32>
  %k = weft.constant dense<true> : tensor<i1>
  %s = weft.constant dense<2> : tensor<i64>
  %lr = weft.constant dense<0.125> : tensor<f64>
  %wd = weft.constant dense<0.25> : tensor<f64>
  %mu = weft.constant dense<0.875> : tensor<f64>
  %np, %nb = weft.sgd(%p, %b, %g, %c, %k, %s, %lr, %wd, %mu)
      : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<3xf32>, tensor<3xf32>)
  weft.return %np, %nb : tensor<3xf32>, tensor<3xf32>
}
