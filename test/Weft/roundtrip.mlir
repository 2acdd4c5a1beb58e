// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt | FileCheck %s
// Every op prints in a form that parses back, custom and generic.

// CHECK-LABEL: module @all
module @all {
  // CHECK: weft.param @w : tensor<4x1xf32> {init = #weft.init<normal, 0.000000e+00, 2.000000e-02>, scope = "fc"}
  weft.param @w : tensor<4x1xf32> {init = #weft.init<normal, 0.0, 0.02>, scope = "fc"}
  // CHECK: weft.state @w.grad : tensor<4x1xf32> {kind = #weft.state_kind<gradient>, param = @w}
  weft.state @w.grad : tensor<4x1xf32> {kind = #weft.state_kind<gradient>, param = @w}

  // CHECK: weft.program @model
  // CHECK-SAME: weft.input = "x"
  weft.program @model(%x: tensor<8x4xf32> {weft.input = "x"},
                      %t: tensor<8xi32> {weft.input = "t"},
                      %q: tensor<2x16x4x64xf32> {weft.input = "q"},
                      %k: tensor<2x16x2x64xf32> {weft.input = "k"},
                      %rng: tensor<2xi64> {weft.input = "rng"},
                      %ids: tensor<2x16xi32> {weft.input = "ids"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<4x1xf32>
    %v = weft.reshape %w : tensor<4x1xf32> to tensor<4xf32>
    // CHECK: weft.matmul %{{.*}}, %{{.*}} {transpose_lhs, weft.scope = "h.0"} : tensor<8x4xf32>, tensor<8x4xf32>
    %mm = weft.matmul %x, %x {transpose_lhs, weft.scope = "h.0"} : tensor<8x4xf32>, tensor<8x4xf32>
    // CHECK: weft.reduce sum %{{.*}} dims [0] {keep_dims} : tensor<4x4xf32>
    %r = weft.reduce sum %mm dims [0] {keep_dims} : tensor<4x4xf32>
    // CHECK: weft.compare gt %{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<1x4xf32>
    %m = weft.compare gt %mm, %r : tensor<4x4xf32>, tensor<1x4xf32>
    // CHECK: weft.select
    %s = weft.select %m, %mm, %r : tensor<4x4xi1>, tensor<4x4xf32>, tensor<1x4xf32>
    // CHECK: weft.gelu %{{.*}} {approximate = #weft.gelu_kind<tanh>} : tensor<4x4xf32>
    %g = weft.gelu %s {approximate = #weft.gelu_kind<tanh>} : tensor<4x4xf32>
    // CHECK: weft.gelu_grad %{{.*}}, %{{.*}} : tensor<4x4xf32>
    %gg = weft.gelu_grad %g, %s : tensor<4x4xf32>
    // CHECK: weft.gelu_grad %{{.*}}, %{{.*}} {approximate = #weft.gelu_kind<tanh>} : tensor<4x4xf32>
    %gt = weft.gelu_grad %g, %s {approximate = #weft.gelu_kind<tanh>} : tensor<4x4xf32>
    // CHECK: weft.relu_grad %{{.*}}, %{{.*}} : tensor<4x4xf32>
    %rg = weft.relu_grad %g, %s : tensor<4x4xf32>
    // CHECK: weft.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : tensor<4x4xf32>, tensor<4xf32>
    %n, %mean, %rstd = weft.layer_norm %g, %v, %v {eps = 1.0e-5 : f64} : tensor<4x4xf32>, tensor<4xf32>
    // CHECK: weft.dropout %{{.*}} rng %{{.*}} : tensor<2xi64> {op_id = 3 : i64, p = 1.000000e-01 : f64} : tensor<4x4xf32>
    %d = weft.dropout %n rng %rng : tensor<2xi64> {p = 0.1 : f64, op_id = 3 : i64} : tensor<4x4xf32>
    // CHECK: weft.layer_drop %{{.*}}, %{{.*}} rng %{{.*}} : tensor<2xi64> {op_id = 4 : i64, p = 2.000000e-01 : f64} : tensor<4x4xf32>
    %ld, %dropped = weft.layer_drop %n, %d rng %rng : tensor<2xi64> {p = 0.2 : f64, op_id = 4 : i64} : tensor<4x4xf32>
    // CHECK: weft.concat %{{.*}}, %{{.*}} {dim = 1 : i64} : tensor<4x4xf32>, tensor<4x4xf32>
    %c = weft.concat %d, %n {dim = 1 : i64} : tensor<4x4xf32>, tensor<4x4xf32>
    // CHECK: weft.attention %{{.*}} {causal, scale = 1.250000e-01 : f64} : tensor<2x16x4x64xf32>, tensor<2x16x2x64xf32>, tensor<2x16x2x64xf32>
    %o, %lse = weft.attention %q, %k, %k {causal, scale = 0.125 : f64} : tensor<2x16x4x64xf32>, tensor<2x16x2x64xf32>, tensor<2x16x2x64xf32>
    // CHECK: weft.attention_grad %{{.*}} : tensor<2x16x4x64xf32>, tensor<2x16x2x64xf32>, tensor<2x4x16xf32>
    %dq, %dk, %dv = weft.attention_grad %o, %q, %k, %k, %o, %lse {causal, scale = 0.125 : f64} : tensor<2x16x4x64xf32>, tensor<2x16x2x64xf32>, tensor<2x4x16xf32>
    // CHECK: weft.attention %{{.*}}, %{{.*}}, %{{.*}} rng %{{.*}} : tensor<2xi64> segments %{{.*}} : tensor<2x16xi32> {causal, dropout = 5.000000e-01 : f64, op_id = 3 : i64, scale = 1.250000e-01 : f64, softcap = 5.000000e+01 : f64, window = 8 : i64} :
    %vo, %vlse = weft.attention %q, %k, %k rng %rng : tensor<2xi64> segments %ids : tensor<2x16xi32> {causal, dropout = 0.5 : f64, op_id = 3, scale = 0.125 : f64, softcap = 50.0 : f64, window = 8 : i64} : tensor<2x16x4x64xf32>, tensor<2x16x2x64xf32>, tensor<2x16x2x64xf32>
    // CHECK: %{{.*}}, %{{.*}}, %[[BITS:.*]] = weft.attention %{{.*}} rng %{{.*}} : tensor<2xi64> {dropout = 5.000000e-01 : f64, op_id = 3 : i64, scale = 1.250000e-01 : f64, stores_bits} : tensor<2x16x4x64xf32>, tensor<2x16x2x64xf32>, tensor<2x16x2x64xf32>
    %bo, %blse, %bits = weft.attention %q, %k, %k rng %rng : tensor<2xi64> {dropout = 0.5 : f64, op_id = 3, scale = 0.125 : f64, stores_bits} : tensor<2x16x4x64xf32>, tensor<2x16x2x64xf32>, tensor<2x16x2x64xf32>
    // CHECK: weft.attention_grad %{{.*}} bits %[[BITS]] : tensor<2x4x4x1x32xi32> {dropout = 5.000000e-01 : f64, op_id = 3 : i64, scale = 1.250000e-01 : f64} : tensor<2x16x4x64xf32>, tensor<2x16x2x64xf32>, tensor<2x4x16xf32>
    %bdq, %bdk, %bdv = weft.attention_grad %bo, %q, %k, %k, %bo, %blse bits %bits : tensor<2x4x4x1x32xi32> {dropout = 0.5 : f64, op_id = 3, scale = 0.125 : f64} : tensor<2x16x4x64xf32>, tensor<2x16x2x64xf32>, tensor<2x4x16xf32>
    // CHECK: weft.attention_grad %{{.*}} segments %{{.*}} : tensor<2x16xi32> {scale = 1.250000e-01 : f64, window = 1 : i64} : tensor<2x16x4x64xf32>, tensor<2x16x2x64xf32>, tensor<2x4x16xf32>
    %vdq, %vdk, %vdv = weft.attention_grad %vo, %q, %k, %k, %vo, %vlse segments %ids : tensor<2x16xi32> {scale = 0.125 : f64, window = 1 : i64} : tensor<2x16x4x64xf32>, tensor<2x16x2x64xf32>, tensor<2x4x16xf32>
    // CHECK: weft.cross_entropy %{{.*}}, %{{.*}} {ignore_index = -1 : i64} : tensor<8x4xf32>, tensor<8xi32>
    %ce, %ls, %de = weft.cross_entropy %x, %t {ignore_index = -1 : i64} : tensor<8x4xf32>, tensor<8xi32>
    // CHECK: weft.accuracy %{{.*}}, %{{.*}} {ignore_index = -1 : i64} : tensor<8x4xf32>, tensor<8xi32>
    %acc = weft.accuracy %x, %t {ignore_index = -1 : i64} : tensor<8x4xf32>, tensor<8xi32>
    %h = weft.cast %x : tensor<8x4xf32> to tensor<8x4xbf16>
    %b = weft.cast %v : tensor<4xf32> to tensor<4xbf16>
    // CHECK: weft.matmul %{{.*}}, %{{.*}} bias %{{.*}} : tensor<4xbf16> {out = f32, transpose_lhs} : tensor<8x4xbf16>, tensor<8x4xbf16>
    %lin = weft.matmul %h, %h bias %b : tensor<4xbf16> {transpose_lhs, out = f32} : tensor<8x4xbf16>, tensor<8x4xbf16>
    // CHECK: weft.softmax %{{.*}} {dtype = f32} : tensor<8x4xbf16>
    %sm = weft.softmax %h {dtype = f32} : tensor<8x4xbf16>
    // CHECK: weft.reduce sum %{{.*}} dims [1] {dtype = f32} : tensor<8x4xbf16>
    %rs = weft.reduce sum %h dims [1] {dtype = f32} : tensor<8x4xbf16>
    // CHECK: weft.autocast attributes {enabled = false} {
    // CHECK: weft.yield %{{.*}} : tensor<4x4xf32>
    // CHECK: } : tensor<4x4xf32>
    %reg = weft.autocast attributes {enabled = false} {
      %e = weft.exp %lin : tensor<4x4xf32>
      weft.yield %e : tensor<4x4xf32>
    } : tensor<4x4xf32>
    // CHECK: weft.recompute "mlp" {
    // CHECK: weft.yield %{{.*}} : tensor<4x4xf32>
    // CHECK: } : tensor<4x4xf32>
    %again = weft.recompute "mlp" {
      %e = weft.exp %lin : tensor<4x4xf32>
      weft.yield %e : tensor<4x4xf32>
    } : tensor<4x4xf32>
    // CHECK: weft.return %{{.*}} : tensor<f32> writes @w.grad = %{{.*}} : tensor<4x1xf32>
    weft.return %ce : tensor<f32> writes @w.grad = %w : tensor<4x1xf32>
  }

  // CHECK: weft.program @scale
  weft.program @scale(%n: tensor<f64> {weft.input = "n"}, %s: tensor<f32> {weft.input = "s"},
                      %c: tensor<3xi64> {weft.input = "c"}, %b: tensor<i1> {weft.input = "b"})
      attributes {kind = #weft.kind<apply>} {
    // CHECK: weft.total_norm %{{.*}}, %{{.*}} skip %{{.*}}, %{{.*}} scale %{{.*}} {p = 2.000000e+00 : f64}
    %t = weft.total_norm %n, %n skip %b, %b scale %s {p = 2.0 : f64}
    // CHECK: weft.clip_coefficient %{{.*}}, %{{.*}} scale %{{.*}}
    %k = weft.clip_coefficient %t, %n scale %s
    // CHECK: weft.scaler_update %{{.*}}, %{{.*}}, %{{.*}} by #weft.scaler<deepspeed, init = 4.000000e+00, interval = 2000, consecutive = true>
    %s1, %c1, %end = weft.scaler_update %s, %c, %b by #weft.scaler<deepspeed, init = 4, growth = 2.0, interval = 2000, consecutive = true>
    weft.return
  }
}
