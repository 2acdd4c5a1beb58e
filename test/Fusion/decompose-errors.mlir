// RUN: weft-opt %s --weft-decompose --split-input-file --verify-diagnostics

weft.program @p(%x: tensor<4xf16> {weft.input = "x"}) attributes {kind = #weft.kind<eval>} {
  // expected-error@below {{expects no dtype, but got 'f32'; run weft-autocast first}}
  %y = weft.log_softmax %x {dtype = f32} : tensor<4xf16>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<eval>} {
  // expected-error@below {{expects no region with a cast policy; run weft-autocast first}}
  weft.autocast attributes {enabled = false} {
    weft.yield
  }
  weft.return
}

// -----

weft.program @no_rng(%x: tensor<4xf32> {weft.input = "x"})
    -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects an rng operand where p is not 0; run weft-derive-programs}}
  %y = weft.dropout %x {p = 0.5 : f64, op_id = 1} : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

weft.program @no_layer_rng(%x: tensor<4xf32> {weft.input = "x"})
    -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects an rng operand where p is not 0; run weft-derive-programs}}
  %y, %dropped = weft.layer_drop %x, %x {p = 0.5 : f64, op_id = 1} : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}
