// RUN: weft-interp %s --mode=f32 | FileCheck %s

// Mixed precision: one rounding at the end of each op. 2049 and 2047 + 2 are no
// f16 values: they show what was rounded, and when.

// One rounding of product and bias; with `out = f32` none.
// CHECK-LABEL: program @linear{{$}}
// CHECK-NEXT: low = {{\[\[}}2050]] : 1x1xf16
// CHECK-NEXT: no_bias = {{\[\[}}2048]] : 1x1xf16
// CHECK-NEXT: rows = {{\[\[}}[11, 22], [13, 24]], {{\[\[}}10, 20], [11, 21]]] : 2x2x2xf32
// CHECK-NEXT: wide = {{\[\[}}2049]] : 1x1xf32
weft.program @linear() -> (tensor<1x1xf16> {weft.output = "low"}, tensor<1x1xf16> {weft.output = "no_bias"},
                           tensor<1x1xf32> {weft.output = "wide"}, tensor<2x2x2xf32> {weft.output = "rows"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[2048.0, 1.0]]> : tensor<1x2xf16>
  %w = weft.constant dense<1.0> : tensor<1x2xf16>
  %b = weft.constant dense<1.0> : tensor<1xf16>
  %low = weft.matmul %x, %w bias %b : tensor<1xf16> {transpose_rhs} : tensor<1x2xf16>, tensor<1x2xf16>
  %none = weft.matmul %x, %w {transpose_rhs} : tensor<1x2xf16>, tensor<1x2xf16>
  %wide = weft.matmul %x, %w {transpose_rhs, out = f32} : tensor<1x2xf16>, tensor<1x2xf16>
  %y = weft.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.0], [1.0, 1.0]]]> : tensor<2x2x2xf32>
  %eye = weft.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %c = weft.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %rows = weft.matmul %y, %eye bias %c : tensor<2xf32> : tensor<2x2x2xf32>, tensor<2x2xf32>
  weft.return %low, %none, %wide, %rows : tensor<1x1xf16>, tensor<1x1xf16>, tensor<1x1xf32>, tensor<2x2x2xf32>
}

// The caller's dtype: the operand is cast to it first.
// CHECK-LABEL: program @dtypes{{$}}
// CHECK-NEXT: log_softmax = [-0.693147182, -0.693147182] : 2xf32
// CHECK-NEXT: narrow = 2048 : f16
// CHECK-NEXT: softmax = [0.5, 0.5] : 2xf32
// CHECK-NEXT: softmax_low = [0.5, 0.5] : 2xf16
// CHECK-NEXT: wide = 2049 : f32
weft.program @dtypes() -> (tensor<f32> {weft.output = "wide"}, tensor<f16> {weft.output = "narrow"},
                           tensor<2xf32> {weft.output = "softmax"}, tensor<2xf16> {weft.output = "softmax_low"},
                           tensor<2xf32> {weft.output = "log_softmax"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[2048.0, 1.0]> : tensor<2xf16>
  %wide = weft.reduce sum %x dims [0] {dtype = f32} : tensor<2xf16>
  %y = weft.constant dense<[2049.0, 1.0]> : tensor<2xf32>
  %narrow = weft.reduce sum %y dims [0] {dtype = f16} : tensor<2xf32>
  // 2048 and 2049 are one number in f16.
  %z = weft.constant dense<[2048.0, 2048.0]> : tensor<2xf16>
  %s = weft.softmax %z {dtype = f32} : tensor<2xf16>
  %near = weft.constant dense<[2048.0, 2049.0]> : tensor<2xf32>
  %sl = weft.softmax %near {dtype = f16} : tensor<2xf32>
  %ls = weft.log_softmax %z {dtype = f32} : tensor<2xf16>
  weft.return %wide, %narrow, %s, %sl, %ls : tensor<f32>, tensor<f16>, tensor<2xf32>, tensor<2xf16>, tensor<2xf32>
}

// Low operands beside f32 factors; statistics are f32.
// CHECK-LABEL: program @factors{{$}}
// CHECK-NEXT: layer_norm = [2.5, -3.5] : 2xf16
// CHECK-NEXT: mean = 0.5 : f32
// CHECK-NEXT: rms_norm = [2, -4] : 2xf16
// CHECK-NEXT: rope = {{\[\[\[\[}}0, 5]]]] : 1x1x1x2xf16
// CHECK-NEXT: rstd = 1 : f32
// CHECK-NEXT: table = {{\[\[}}0], [2049]] : 2x1xf32
// CHECK-NEXT: table_low = {{\[\[}}0], [2048]] : 2x1xf16
weft.program @factors() -> (tensor<2xf16> {weft.output = "layer_norm"}, tensor<f32> {weft.output = "mean"},
                            tensor<f32> {weft.output = "rstd"}, tensor<2xf16> {weft.output = "rms_norm"},
                            tensor<1x1x1x2xf16> {weft.output = "rope"}, tensor<2x1xf32> {weft.output = "table"},
                            tensor<2x1xf16> {weft.output = "table_low"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[1.5, -0.5]> : tensor<2xf16>
  %w = weft.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %b = weft.constant dense<0.5> : tensor<2xf32>
  %n, %mean, %rstd = weft.layer_norm %x, %w, %b {eps = 0.0 : f64} : tensor<2xf16>, tensor<2xf32>
  %u = weft.constant dense<[1.0, -1.0]> : tensor<2xf16>
  %r, %rr = weft.rms_norm %u, %w {eps = 0.0 : f64} : tensor<2xf16>, tensor<2xf32>
  %q = weft.constant dense<[[[[4.0, 8.0]]]]> : tensor<1x1x1x2xf16>
  %cos = weft.constant dense<0.5> : tensor<1x1xf32>
  %sin = weft.constant dense<0.25> : tensor<1x1xf32>
  %rope = weft.rope %q, %cos, %sin : tensor<1x1x1x2xf16>, tensor<1x1xf32>
  %g = weft.constant dense<[[2048.0], [1.0]]> : tensor<2x1xf16>
  %ids = weft.constant dense<[1, 1]> : tensor<2xi32>
  %t = weft.embedding_grad %g, %ids : tensor<2x1xf16>, tensor<2xi32> to tensor<2x1xf32>
  %tl = weft.embedding_grad %g, %ids : tensor<2x1xf16>, tensor<2xi32> to tensor<2x1xf16>
  weft.return %n, %mean, %rstd, %r, %rope, %t, %tl : tensor<2xf16>, tensor<f32>, tensor<f32>, tensor<2xf16>, tensor<1x1x1x2xf16>, tensor<2x1xf32>, tensor<2x1xf16>
}

// -(ln 1/4 + ln 1/2) / 2; logarithms are at least -100.
// CHECK-LABEL: program @losses{{$}}
// CHECK-NEXT: bce = 1.03972077 : f32
// CHECK-NEXT: bce_limit = 100 : f32
// CHECK-NEXT: bce_low = 1.03972077 : f32
// CHECK-NEXT: ce = 0.693147182 : f32
weft.program @losses() -> (tensor<f32> {weft.output = "bce"}, tensor<f32> {weft.output = "bce_low"},
                           tensor<f32> {weft.output = "bce_limit"}, tensor<f32> {weft.output = "ce"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %t = weft.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %bce = weft.bce %p, %t : tensor<2xf32>
  %pl = weft.cast %p : tensor<2xf32> to tensor<2xf16>
  %tl = weft.cast %t : tensor<2xf32> to tensor<2xf16>
  %low = weft.bce %pl, %tl : tensor<2xf16>
  %edge = weft.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %ones = weft.constant dense<1.0> : tensor<2xf32>
  %limit = weft.bce %edge, %ones {reduction = #weft.loss_reduction<sum>} : tensor<2xf32>
  %logits = weft.constant dense<3.0> : tensor<1x2xbf16>
  %y = weft.constant dense<1> : tensor<1xi32>
  %ce, %lse, %denom = weft.cross_entropy %logits, %y : tensor<1x2xbf16>, tensor<1xi32>
  weft.return %bce, %low, %limit, %ce : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// Regions of weft.autocast run as if their ops stood in the program.
// CHECK-LABEL: program @regions{{$}}
// CHECK-NEXT: a = 7 : f32
// CHECK-NEXT: b = 3 : f32
weft.program @regions() -> (tensor<f32> {weft.output = "a"}, tensor<f32> {weft.output = "b"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<3.0> : tensor<f32>
  %r:2 = weft.autocast attributes {enabled = false} {
    %one = weft.constant dense<1.0> : tensor<f32>
    %y = weft.add %x, %one : tensor<f32>, tensor<f32>
    %z = weft.autocast attributes {dtype = bf16} {
      %s = weft.add %x, %y : tensor<f32>, tensor<f32>
      weft.yield %s : tensor<f32>
    } : tensor<f32>
    weft.yield %z, %x : tensor<f32>, tensor<f32>
  } : tensor<f32>, tensor<f32>
  weft.return %r#0, %r#1 : tensor<f32>, tensor<f32>
}

// Norms of the groups that are not skipped, of all if every group is; divided
// by the scale.
// CHECK-LABEL: program @norms{{$}}
// CHECK-NEXT: all = 5 : f64
// CHECK-NEXT: all_skipped = 2.5 : f64
// CHECK-NEXT: clip = 0.125 : f32
// CHECK-NEXT: inf = 2 : f64
// CHECK-NEXT: one = 1.5 : f64
// CHECK-NEXT: unscale = 0.25 : f32
weft.program @norms() -> (tensor<f64> {weft.output = "all"}, tensor<f64> {weft.output = "one"},
                          tensor<f64> {weft.output = "all_skipped"}, tensor<f64> {weft.output = "inf"},
                          tensor<f32> {weft.output = "clip"}, tensor<f32> {weft.output = "unscale"})
    attributes {kind = #weft.kind<eval>} {
  %n0 = weft.constant dense<3.0> : tensor<f64>
  %n1 = weft.constant dense<4.0> : tensor<f64>
  %yes = weft.constant dense<true> : tensor<i1>
  %no = weft.constant dense<false> : tensor<i1>
  %s = weft.constant dense<2.0> : tensor<f32>
  %all = weft.total_norm %n0, %n1 skip %no, %no {p = 2.0 : f64}
  %one = weft.total_norm %n0, %n1 skip %no, %yes scale %s {p = 2.0 : f64}
  %skipped = weft.total_norm %n0, %n1 skip %yes, %yes scale %s {p = 2.0 : f64}
  %inf = weft.total_norm %n0, %n1 skip %no, %no scale %s {p = 0x7FF0000000000000 : f64}
  %four = weft.constant dense<4.0> : tensor<f32>
  %zero = weft.constant dense<0.0> : tensor<f64>
  %limit = weft.constant dense<2.0000005> : tensor<f64>
  %clip = weft.clip_coefficient %n1, %limit scale %four
  %unscale = weft.clip_coefficient %n1, %zero scale %four
  weft.return %all, %one, %skipped, %inf, %clip, %unscale : tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f32>, tensor<f32>
}

// The working copy is the new parameter, rounded; also of a skipped step. A low
// parameter without a master loses an update that is too small for it.
// CHECK-LABEL: program @updates{{$}}
// CHECK-NEXT: adam_working = 2048 : f16
// CHECK-NEXT: low = 1 : bf16
// CHECK-NEXT: master = 0.999800026 : f32
// CHECK-NEXT: skipped = 3 : f32
// CHECK-NEXT: skipped_working = 3 : f16
// CHECK-NEXT: working = 1 : f16
weft.program @updates() -> (tensor<f32> {weft.output = "master"}, tensor<f16> {weft.output = "working"},
                            tensor<f32> {weft.output = "skipped"}, tensor<f16> {weft.output = "skipped_working"},
                            tensor<bf16> {weft.output = "low"}, tensor<f16> {weft.output = "adam_working"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.constant dense<1.0> : tensor<f32>
  %pl = weft.constant dense<1.0> : tensor<bf16>
  %three = weft.constant dense<3.0> : tensor<f32>
  %large = weft.constant dense<2049.0> : tensor<f32>
  %zero = weft.constant dense<0.0> : tensor<f32>
  %g = weft.constant dense<1.0> : tensor<f16>
  %gl = weft.constant dense<1.0> : tensor<bf16>
  %c = weft.constant dense<1.0> : tensor<f32>
  %no = weft.constant dense<false> : tensor<i1>
  %yes = weft.constant dense<true> : tensor<i1>
  %t = weft.constant dense<1> : tensor<i64>
  %lr = weft.constant dense<2.0e-4> : tensor<f64>
  %off = weft.constant dense<0.0> : tensor<f64>
  %beta = weft.constant dense<0.5> : tensor<f64>
  %p1, %b1, %w1 = weft.sgd(%p, %zero, %g, %c, %no, %t, %lr, %off, %off)
      : (tensor<f32>, tensor<f32>, tensor<f16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<f32>, tensor<f32>, tensor<f16>)
  %p2, %b2, %w2 = weft.sgd(%three, %zero, %g, %c, %yes, %t, %lr, %off, %off)
      : (tensor<f32>, tensor<f32>, tensor<f16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<f32>, tensor<f32>, tensor<f16>)
  %p3, %b3 = weft.sgd(%pl, %zero, %gl, %c, %no, %t, %lr, %off, %off)
      : (tensor<bf16>, tensor<f32>, tensor<bf16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<bf16>, tensor<f32>)
  %p4, %m4, %v4, %w4 = weft.adamw(%large, %zero, %zero, %g, %c, %no, %t, %off, %off, %beta, %beta, %beta)
      : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f16>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f16>)
  weft.return %p1, %w1, %p2, %w2, %p3, %w4 : tensor<f32>, tensor<f16>, tensor<f32>, tensor<f16>, tensor<bf16>, tensor<f16>
}
