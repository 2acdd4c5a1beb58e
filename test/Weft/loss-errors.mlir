// RUN: weft-opt %s -split-input-file -verify-diagnostics
// Every message of losses, gradient checks and optimizer ops.

weft.program @p(%x: tensor<f32> {weft.input = "x"}, %i: tensor<8xi32> {weft.input = "i"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects logits of rank 1 or more, but got 'tensor<f32>'}}
  %l, %s, %d = weft.cross_entropy %x, %i : tensor<f32>, tensor<8xi32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %i: tensor<4xi32> {weft.input = "i"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects one target for each row of 'tensor<8x4xf32>', but got 'tensor<4xi32>'}}
  %l, %s, %d = weft.cross_entropy %x, %i : tensor<8x4xf32>, tensor<4xi32>
  weft.return
}

// -----

weft.program @p(%x: tensor<f32> {weft.input = "x"}, %i: tensor<8xi32> {weft.input = "i"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects logits of rank 1 or more, but got 'tensor<f32>'}}
  %a = weft.accuracy %x, %i : tensor<f32>, tensor<8xi32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %i: tensor<4xi32> {weft.input = "i"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects one target for each row of 'tensor<8x4xf32>', but got 'tensor<4xi32>'}}
  %a = weft.accuracy %x, %i : tensor<8x4xf32>, tensor<4xi32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %i: tensor<8xi32> {weft.input = "i"}, %w: tensor<8xf32> {weft.input = "w"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects one weight for each class, 'tensor<4xf32>', but got 'tensor<8xf32>'}}
  %l, %s, %d = weft.cross_entropy %x, %i weight %w : tensor<8xf32> : tensor<8x4xf32>, tensor<8xi32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %i: tensor<8xi32> {weft.input = "i"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects label_smoothing in [0, 1], but got 1.5}}
  %l, %s, %d = weft.cross_entropy %x, %i {label_smoothing = 1.5 : f64} : tensor<8x4xf32>, tensor<8xi32>
  weft.return
}

// -----

weft.program @p(%g: tensor<f32> {weft.input = "g"}, %x: tensor<8x4xf32> {weft.input = "x"}, %i: tensor<8xi32> {weft.input = "i"}, %s: tensor<4xf32> {weft.input = "s"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects lse of type 'tensor<8xf32>', but got 'tensor<4xf32>'}}
  %d = weft.cross_entropy_grad %g, %x, %i, %s, %g : tensor<f32>, tensor<8x4xf32>, tensor<8xi32>, tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<8x4xf32> {weft.input = "x"}, %i: tensor<8xi32> {weft.input = "i"}, %s: tensor<8xf32> {weft.input = "s"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects grad and denom of type 'tensor<f32>', but got 'tensor<8xf32>'}}
  %d = weft.cross_entropy_grad %s, %x, %i, %s, %s : tensor<8xf32>, tensor<8x4xf32>, tensor<8xi32>, tensor<8xf32>
  weft.return
}

// -----

weft.program @p(%g: tensor<f32> {weft.input = "g"}, %x: tensor<f32> {weft.input = "x"}, %i: tensor<i32> {weft.input = "i"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects logits of rank 1 or more, but got 'tensor<f32>'}}
  %d = weft.cross_entropy_grad %g, %x, %i, %g, %g : tensor<f32>, tensor<f32>, tensor<i32>, tensor<f32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}, %y: tensor<8xf32> {weft.input = "y"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{failed to verify that all of {input, target} have same type}}
  %l = "weft.mse"(%x, %y) : (tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}, %y: tensor<8xf32> {weft.input = "y"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{failed to verify that all of {input, target} have same type}}
  %l = "weft.bce_with_logits"(%x, %y) : (tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects p of 1, 2, 3 or inf, but got 4.0}}
  %n, %b = weft.norm_and_check %x {p = 4.0 : f64} : tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects p of 1, 2, 3 or inf, but got}}
  %n, %b = weft.norm_and_check %x {p = 0xFFF0000000000000 : f64} : tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%p: tensor<4xf32> {weft.input = "p"}, %m: tensor<8xf32> {weft.input = "m"}, %g: tensor<4xf32> {weft.input = "g"}, %c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %d: tensor<f64> {weft.input = "d"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects state and gradient of the shape of 'tensor<4xf32>', but got 'tensor<8xf32>'}}
  %n, %q = weft.sgd (%p, %m, %g, %c, %s, %t, %d, %d, %d) : (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<8xf32>)
  weft.return
}

// -----

weft.program @p(%p: tensor<4xf32> {weft.input = "p"}, %m: tensor<4xf32> {weft.input = "m"}, %g: tensor<8xf32> {weft.input = "g"}, %c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %d: tensor<f64> {weft.input = "d"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects state and gradient of the shape of 'tensor<4xf32>', but got 'tensor<8xf32>'}}
  %n, %q = weft.sgd (%p, %m, %g, %c, %s, %t, %d, %d, %d) : (tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  weft.return
}

// -----

weft.program @p(%p: tensor<4xf32> {weft.input = "p"}, %m: tensor<4xf32> {weft.input = "m"}, %g: tensor<4xf32> {weft.input = "g"}, %c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %d: tensor<f64> {weft.input = "d"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects result 1 of type 'tensor<4xf32>', but got 'tensor<8xf32>'}}
  %n, %q = weft.sgd (%p, %m, %g, %c, %s, %t, %d, %d, %d) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<8xf32>)
  weft.return
}

// -----

weft.program @p(%p: tensor<4xf32> {weft.input = "p"}, %m: tensor<8xf32> {weft.input = "m"}, %c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %d: tensor<f64> {weft.input = "d"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects state and gradient of the shape of 'tensor<4xf32>', but got 'tensor<8xf32>'}}
  %n, %q, %r = weft.adam (%p, %p, %m, %p, %c, %s, %t, %d, %d, %d, %d, %d) : (tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<8xf32>)
  weft.return
}

// -----

weft.program @p(%p: tensor<4xf32> {weft.input = "p"}, %m: tensor<8xf32> {weft.input = "m"}, %c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %d: tensor<f64> {weft.input = "d"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects state and gradient of the shape of 'tensor<4xf32>', but got 'tensor<8xf32>'}}
  %n, %q, %r = weft.adamw (%p, %p, %m, %p, %c, %s, %t, %d, %d, %d, %d, %d) : (tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<8xf32>)
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{must be scalar tensor of 32-bit float, but got 'tensor<4xf32>'}}
  %r = "weft.accumulate"(%x, %x, %x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}, %i: tensor<1xi32> {weft.input = "i"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects one target for each row of 'tensor<4xf32>', but got 'tensor<1xi32>'}}
  %l, %s, %d = weft.cross_entropy %x, %i : tensor<4xf32>, tensor<1xi32>
  weft.return
}

// -----

weft.program @p(%p: tensor<4xf32> {weft.input = "p"}, %m: tensor<4xf32> {weft.input = "m"}, %g: tensor<4xf32> {weft.input = "g"}, %c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %d: tensor<f64> {weft.input = "d"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a finite lr_scale, but got nan}}
  %n, %q = weft.sgd (%p, %m, %g, %c, %s, %t, %d, %d, %d) {lr_scale = 0x7FF8000000000000 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  weft.return
}
