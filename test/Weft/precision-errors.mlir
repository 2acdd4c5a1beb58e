// RUN: weft-opt %s -split-input-file -verify-diagnostics
// Every message about element types that differ, and of the scaler's ops.

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf16> {weft.input = "w"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{requires the same element type for all operands}}
  %y = weft.matmul %x, %w : tensor<8x4xf32>, tensor<4x3xf16>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4x3xf32> {weft.input = "w"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects out to be the operands' type or f32 for f16 and bf16, but got 'f16' for 'f32'}}
  %y = weft.matmul %x, %w {out = f16} : tensor<8x4xf32>, tensor<4x3xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf16> {weft.input = "x"}, %w: tensor<4x3xf16> {weft.input = "w"}, %b: tensor<4xf16> {weft.input = "b"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a bias of type 'tensor<3xf16>', but got 'tensor<4xf16>'}}
  %y = weft.matmul %x, %w bias %b : tensor<4xf16> : tensor<8x4xf16>, tensor<4x3xf16>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf16> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{result #0 must be ranked tensor of 32-bit float or 16-bit float or bfloat16 type or 64-bit float values}}
  %y = weft.softmax %x {dtype = i32} : tensor<8x4xf16>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf16> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{result #0 must be ranked tensor of 32-bit float or 16-bit float or bfloat16 type or 64-bit float values}}
  %y = weft.reduce sum %x dims [0] {dtype = i32} : tensor<8x4xf16>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf16> {weft.input = "x"}, %w: tensor<4xbf16> {weft.input = "w"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects weight and bias of the operand's element type or f32 for f16 and bf16, but got 'tensor<4xbf16>' for 'tensor<8x4xf16>'}}
  %y, %s = weft.rms_norm %x, %w {eps = 1.0e-6 : f64} : tensor<8x4xf16>, tensor<4xbf16>
  weft.return
}

// -----

weft.program @p(%x: tensor<1x8x2x4xf32> {weft.input = "x"}, %t: tensor<8x2xf16> {weft.input = "t"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects tables of the operand's element type or f32 for f16 and bf16, but got 'tensor<8x2xf16>' for 'tensor<1x8x2x4xf32>'}}
  %y = weft.rope %x, %t, %t : tensor<1x8x2x4xf32>, tensor<8x2xf16>
  weft.return
}

// -----

weft.program @p(%g: tensor<8x4xf32> {weft.input = "g"}, %i: tensor<8xi32> {weft.input = "i"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a result of the gradient's element type or f32 for f16 and bf16, but got 'tensor<5x4xf16>' for 'tensor<8x4xf32>'}}
  %t = weft.embedding_grad %g, %i : tensor<8x4xf32>, tensor<8xi32> to tensor<5x4xf16>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects dtype to be f16 or bf16, but got 'f32'}}
  %y = weft.autocast attributes {dtype = f32} {
    weft.yield %x : tensor<4xf32>
  } : tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  %y = weft.autocast attributes {enabled = false} {
    // expected-error @below {{expects values of types ('tensor<4xf32>'), but got ()}}
    weft.yield
  } : tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a body that ends with weft.yield}}
  weft.autocast attributes {enabled = false} {
    %e = weft.exp %x : tensor<4xf32>
  }
  weft.return
}

// -----

weft.program @p(%n: tensor<f64> {weft.input = "n"}, %b: tensor<i1> {weft.input = "b"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects one skip for each norm, but got 2 for 1}}
  %t = weft.total_norm %n skip %b, %b {p = 2.0 : f64}
  weft.return
}

// -----

weft.program @p(%n: tensor<f64> {weft.input = "n"}, %b: tensor<i1> {weft.input = "b"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a positive p, but got 0}}
  %t = weft.total_norm %n skip %b {p = 0.0 : f64}
  weft.return
}

// -----

weft.program @p(%s: tensor<f32> {weft.input = "s"}, %c: tensor<3xi64> {weft.input = "c"}, %b: tensor<i1> {weft.input = "b"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects growth to be finite in f32 and above 1, but got 1}}
  %t:3 = weft.scaler_update %s, %c, %b by #weft.scaler<torch, growth = 1.0, backoff = 0.5, interval = 2000>
  weft.return
}

// -----

weft.program @p(%s: tensor<f32> {weft.input = "s"}, %c: tensor<3xi64> {weft.input = "c"}, %b: tensor<i1> {weft.input = "b"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects backoff to lie in (0, 1) in f32, but got 1}}
  %t:3 = weft.scaler_update %s, %c, %b by #weft.scaler<torch, growth = 2.0, backoff = 1.0, interval = 2000>
  weft.return
}

// -----

weft.program @p(%s: tensor<f32> {weft.input = "s"}, %c: tensor<3xi64> {weft.input = "c"}, %b: tensor<i1> {weft.input = "b"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects interval to be at least 1, but got 0}}
  %t:3 = weft.scaler_update %s, %c, %b by #weft.scaler<torch, growth = 2.0, backoff = 0.5, interval = 0>
  weft.return
}

// -----

weft.program @p(%s: tensor<f32> {weft.input = "s"}, %c: tensor<3xi64> {weft.input = "c"}, %b: tensor<i1> {weft.input = "b"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects hysteresis to be at least 1, but got 0}}
  %t:3 = weft.scaler_update %s, %c, %b by #weft.scaler<deepspeed, growth = 2.0, backoff = 0.5, interval = 3, hysteresis = 0>
  weft.return
}

// -----

weft.program @p(%s: tensor<f32> {weft.input = "s"}, %c: tensor<3xi64> {weft.input = "c"}, %b: tensor<i1> {weft.input = "b"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects minimum to be 0, or above 0 and finite in f32, as its inverse, but got -1}}
  %t:3 = weft.scaler_update %s, %c, %b by #weft.scaler<deepspeed, growth = 2.0, backoff = 0.5, interval = 3, minimum = -1>
  weft.return
}

// -----

weft.param @w : tensor<4xf32>
weft.program @apply(%w: tensor<4xf32> {weft.input = "w"}, %c: tensor<f32> {weft.input = "c"}, %b: tensor<i1> {weft.input = "b"}, %t: tensor<i64> {weft.input = "t"}, %n: tensor<f64> {weft.input = "n"}) attributes {kind = #weft.kind<apply>} {
  // expected-error @below {{expects a working copy of the shape of 'tensor<4xf32>', but got 'tensor<5xf16>'}}
  %r:3 = weft.sgd(%w, %w, %w, %c, %b, %t, %n, %n, %n) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<5xf16>)
  weft.return
}
