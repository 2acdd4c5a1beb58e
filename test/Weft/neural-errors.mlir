// RUN: weft-opt %s -split-input-file -verify-diagnostics
// Every message of the layers.

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}, %y: tensor<8x4xf32> {weft.input = "y"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects operands of rank 2 or more, but got 'tensor<4xf32>' and 'tensor<8x4xf32>'}}
  %z = weft.matmul %x, %y : tensor<4xf32>, tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects matching inner and batch dimensions, but got 'tensor<8x4xf32>' and 'tensor<8x4xf32>'}}
  %z = weft.matmul %x, %x : tensor<8x4xf32>, tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %y: tensor<4x3xf32> {weft.input = "y"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects matching inner and batch dimensions, but got 'tensor<8x4xf32>' transposed and 'tensor<4x3xf32>'}}
  %z = weft.matmul %x, %y {transpose_lhs} : tensor<8x4xf32>, tensor<4x3xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<2x8x4xf32> {weft.input = "x"}, %y: tensor<3x4x8xf32> {weft.input = "y"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects matching inner and batch dimensions, but got 'tensor<2x8x4xf32>' and 'tensor<3x4x8xf32>'}}
  %z = weft.matmul %x, %y : tensor<2x8x4xf32>, tensor<3x4x8xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}, %i: tensor<8xi32> {weft.input = "i"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a table of rank 2, but got 'tensor<4xf32>'}}
  %z = weft.embedding %x, %i : tensor<4xf32>, tensor<8xi32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}, %t: tensor<8x4xf32> {weft.input = "t"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{must be ranked tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<4xf32>'}}
  %z = weft.embedding %t, %x : tensor<8x4xf32>, tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%g: tensor<8x4xf32> {weft.input = "g"}, %i: tensor<8xi32> {weft.input = "i"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a result of rank 2, but got 'tensor<4xf32>'}}
  %z = weft.embedding_grad %g, %i : tensor<8x4xf32>, tensor<8xi32> to tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%g: tensor<8x4xf32> {weft.input = "g"}, %i: tensor<8xi32> {weft.input = "i"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a gradient of shape [8, 5], but got 'tensor<8x4xf32>'}}
  %z = weft.embedding_grad %g, %i : tensor<8x4xf32>, tensor<8xi32> to tensor<9x5xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<8x4xf32> {weft.input = "q"}, %k: tensor<2x16x2x8xf32> {weft.input = "k"}, %v: tensor<2x16x2x8xf32> {weft.input = "v"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a query of rank 4 [batch, time, heads, width], but got 'tensor<8x4xf32>'}}
  %o, %l = weft.attention %q, %k, %v {scale = 0.5 : f64} : tensor<8x4xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<8x4xf32> {weft.input = "k"}, %v: tensor<8x4xf32> {weft.input = "v"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects query and key of rank 4 [batch, time, heads, width], but got 'tensor<2x16x4x8xf32>' and 'tensor<8x4xf32>'}}
  %o, %l = weft.attention %q, %k, %v {scale = 0.5 : f64} : tensor<2x16x4x8xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x16x2x8xf32> {weft.input = "k"}, %v: tensor<2x16x4x8xf32> {weft.input = "v"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects key and value of one type, but got 'tensor<2x16x2x8xf32>' and 'tensor<2x16x4x8xf32>'}}
  %o, %l = weft.attention %q, %k, %v {scale = 0.5 : f64} : tensor<2x16x4x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x4x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<3x16x2x8xf32> {weft.input = "k"}, %v: tensor<3x16x2x8xf32> {weft.input = "v"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects equal batch and width, but got 'tensor<2x16x4x8xf32>' and 'tensor<3x16x2x8xf32>'}}
  %o, %l = weft.attention %q, %k, %v {scale = 0.5 : f64} : tensor<2x16x4x8xf32>, tensor<3x16x2x8xf32>, tensor<3x16x2x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x16x3x8xf32> {weft.input = "k"}, %v: tensor<2x16x3x8xf32> {weft.input = "v"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects query heads to be a multiple of key heads, but got 4 and 3}}
  %o, %l = weft.attention %q, %k, %v {scale = 0.5 : f64} : tensor<2x16x4x8xf32>, tensor<2x16x3x8xf32>, tensor<2x16x3x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x16x0x8xf32> {weft.input = "k"}, %v: tensor<2x16x0x8xf32> {weft.input = "v"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects sizes of at least 1, but got 'tensor<2x16x0x8xf32>'}}
  %o, %l = weft.attention %q, %k, %v {scale = 0.5 : f64} : tensor<2x16x4x8xf32>, tensor<2x16x0x8xf32>, tensor<2x16x0x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x16x2x8xf16> {weft.input = "k"}, %v: tensor<2x16x2x8xf16> {weft.input = "v"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects one element type, but got 'tensor<2x16x4x8xf32>' and 'tensor<2x16x2x8xf16>'}}
  %o, %l = weft.attention %q, %k, %v {scale = 0.5 : f64} : tensor<2x16x4x8xf32>, tensor<2x16x2x8xf16>, tensor<2x16x2x8xf16>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x8x2x8xf32> {weft.input = "k"}, %v: tensor<2x8x2x8xf32> {weft.input = "v"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects at least as many keys as queries when causal, but got 8 and 16}}
  %o, %l = weft.attention %q, %k, %v {causal, scale = 0.5 : f64} : tensor<2x16x4x8xf32>, tensor<2x8x2x8xf32>, tensor<2x8x2x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x16x2x8xf32> {weft.input = "k"}, %v: tensor<2x16x2x8xf32> {weft.input = "v"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a finite scale, but got}}
  %o, %l = weft.attention %q, %k, %v {scale = 0x7FF8000000000000 : f64} : tensor<2x16x4x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x16x2x8xf32> {weft.input = "k"}, %v: tensor<2x16x2x8xf32> {weft.input = "v"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a dropout probability in [0, 1), but got 1.0}}
  %o, %l = weft.attention %q, %k, %v {scale = 0.5 : f64, dropout = 1.0 : f64} : tensor<2x16x4x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects dropout above 0 with stores_bits, but got 0}}
  %o, %l, %b = weft.attention %q, %q, %q {scale = 0.5 : f64, stores_bits} : tensor<2x16x4x8xf32>, tensor<2x16x4x8xf32>, tensor<2x16x4x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %l: tensor<2x4x16xf32> {weft.input = "l"}, %b: tensor<2x4x4x1x32xi32> {weft.input = "b"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects bits only where dropout is above 0, but got dropout of 0}}
  %dq, %dk, %dv = weft.attention_grad %q, %q, %q, %q, %q, %l bits %b : tensor<2x4x4x1x32xi32> {scale = 0.5 : f64} : tensor<2x16x4x8xf32>, tensor<2x16x4x8xf32>, tensor<2x4x16xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %l: tensor<2x4x16xf32> {weft.input = "l"}, %b: tensor<2x4x4x1x32xi32> {weft.input = "b"}, %r: tensor<2xi64> {weft.input = "r"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects either rng or bits, but got both}}
  %dq, %dk, %dv = weft.attention_grad %q, %q, %q, %q, %q, %l rng %r : tensor<2xi64> bits %b : tensor<2x4x4x1x32xi32> {dropout = 0.1 : f64, scale = 0.5 : f64} : tensor<2x16x4x8xf32>, tensor<2x16x4x8xf32>, tensor<2x4x16xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x65x4x8xf32> {weft.input = "q"}, %l: tensor<2x4x65xf32> {weft.input = "l"}, %b: tensor<2x4x5x2x32xi32> {weft.input = "b"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects bits of type 'tensor<2x4x8x2x32xi32>', but got 'tensor<2x4x5x2x32xi32>'}}
  %dq, %dk, %dv = weft.attention_grad %q, %q, %q, %q, %q, %l bits %b : tensor<2x4x5x2x32xi32> {dropout = 0.1 : f64, scale = 0.5 : f64} : tensor<2x65x4x8xf32>, tensor<2x65x4x8xf32>, tensor<2x4x65xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x16x2x8xf32> {weft.input = "k"}, %v: tensor<2x16x2x8xf32> {weft.input = "v"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{requires attribute 'scale'}}
  %o, %l = weft.attention %q, %k, %v {causal} : tensor<2x16x4x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x16x2x8xf32> {weft.input = "k"}, %r: tensor<2xi32> {weft.input = "r"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects rng of type tensor<2xi64>, but got 'tensor<2xi32>'}}
  %o, %l = weft.attention %q, %k, %k rng %r : tensor<2xi32> {scale = 0.5 : f64} : tensor<2x16x4x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x16x2x8xf32> {weft.input = "k"}, %l: tensor<2x16x4xf32> {weft.input = "l"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects lse of type 'tensor<2x4x16xf32>', but got 'tensor<2x16x4xf32>'}}
  %a, %b, %c = weft.attention_grad %q, %q, %k, %k, %q, %l {scale = 0.5 : f64} : tensor<2x16x4x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x4xf32>
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x16x2x8xf32> {weft.input = "k"}, %l: tensor<2x4x16xf32> {weft.input = "l"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects grad and out of the type of query, 'tensor<2x16x4x8xf32>', but got 'tensor<2x16x2x8xf32>'}}
  %a, %b, %c = "weft.attention_grad"(%q, %q, %k, %k, %k, %l) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0>, scale = 0.5 : f64} : (tensor<2x16x4x8xf32>, tensor<2x16x4x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>, tensor<2x4x16xf32>) -> (tensor<2x16x4x8xf32>, tensor<2x16x2x8xf32>, tensor<2x16x2x8xf32>)
  weft.return
}

// -----

weft.program @p(%q: tensor<2x16x4x8xf32> {weft.input = "q"}, %k: tensor<2x8x2x8xf32> {weft.input = "k"}, %l: tensor<2x4x16xf32> {weft.input = "l"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects at least as many keys as queries when causal, but got 8 and 16}}
  %a, %b, %c = weft.attention_grad %q, %q, %k, %k, %q, %l {causal, scale = 0.5 : f64} : tensor<2x16x4x8xf32>, tensor<2x8x2x8xf32>, tensor<2x4x16xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<2x16x4x7xf32> {weft.input = "x"}, %c: tensor<16x3xf32> {weft.input = "c"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects an operand [batch, time, heads, width] of even width, but got 'tensor<2x16x4x7xf32>'}}
  %z = weft.rope %x, %c, %c : tensor<2x16x4x7xf32>, tensor<16x3xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<2x16x4x8xf32> {weft.input = "x"}, %c: tensor<16x8xf32> {weft.input = "c"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects tables of shape [16, 4], but got 'tensor<16x8xf32>'}}
  %z = weft.rope %x, %c, %c : tensor<2x16x4x8xf32>, tensor<16x8xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a dim of 'tensor<8x4xf32>', but got 2}}
  %z = weft.softmax %x {dim = 2 : i64} : tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a dim of 'tensor<8x4xf32>', but got 2}}
  %z = weft.log_softmax %x {dim = 2 : i64} : tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a dim of 'tensor<8x4xf32>', but got -3}}
  %z = weft.softmax %x {dim = -3 : i64} : tensor<8x4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<f32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a dim of 'tensor<f32>', but got -1}}
  %z = weft.softmax %x : tensor<f32>
  weft.return
}

// -----

weft.program @p(%x: tensor<f32> {weft.input = "x"}, %w: tensor<4xf32> {weft.input = "w"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects an operand of rank 1 or more, but got 'tensor<f32>'}}
  %z, %m, %r = weft.layer_norm %x, %w, %w {eps = 1.0e-5 : f64} : tensor<f32>, tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<8xf32> {weft.input = "w"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects weight and bias of shape [4], but got 'tensor<8xf32>'}}
  %z, %m, %r = weft.layer_norm %x, %w, %w {eps = 1.0e-5 : f64} : tensor<8x4xf32>, tensor<8xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4xf32> {weft.input = "w"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a finite eps of at least 0, but got -1.0}}
  %z, %m, %r = weft.layer_norm %x, %w, %w {eps = -1.0 : f64} : tensor<8x4xf32>, tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<f32> {weft.input = "x"}, %w: tensor<4xf32> {weft.input = "w"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects an operand of rank 1 or more, but got 'tensor<f32>'}}
  %z, %r = weft.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<f32>, tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<8xf32> {weft.input = "w"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects weight and bias of shape [4], but got 'tensor<8xf32>'}}
  %z, %r = weft.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<8x4xf32>, tensor<8xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %w: tensor<4xf32> {weft.input = "w"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{requires attribute 'eps'}}
  %z, %r = weft.rms_norm %x, %w : tensor<8x4xf32>, tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<f32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects an operand of rank 1 or more, but got 'tensor<f32>'}}
  %z = weft.dropout %x {p = 0.1 : f64, op_id = 1 : i64} : tensor<f32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a dropout probability in [0, 1), but got -1}}
  %z = weft.dropout %x {p = -1.0 : f64, op_id = 1 : i64} : tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}, %r: tensor<i64> {weft.input = "r"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects rng of type tensor<2xi64>, but got 'tensor<i64>'}}
  %z = weft.dropout %x rng %r : tensor<i64> {p = 0.1 : f64, op_id = 1 : i64} : tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a dropout probability in [0, 1), but got 1.0}}
  %z, %d = weft.layer_drop %x, %x {p = 1.0 : f64, op_id = 1 : i64} : tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}, %r: tensor<i64> {weft.input = "r"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects rng of type tensor<2xi64>, but got 'tensor<i64>'}}
  %z, %d = weft.layer_drop %x, %x rng %r : tensor<i64> {p = 0.1 : f64, op_id = 1 : i64} : tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}, %f: tensor<8xf32> {weft.input = "f"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{failed to verify that all of {operand, layer, result} have same type}}
  %z, %d = "weft.layer_drop"(%x, %f) {p = 0.1 : f64, op_id = 1 : i64} : (tensor<4xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<i1>)
  weft.return
}
