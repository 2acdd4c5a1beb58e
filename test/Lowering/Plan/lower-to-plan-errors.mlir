// RUN: weft-opt --weft-lower-to-plan --split-input-file --verify-diagnostics %s

weft.param @a : tensor<4xf32>
// expected-error @+1 {{expects tied parameters to be one by now (weft-tie-params), but got tie = @a}}
weft.param @b : tensor<4xf32> {tie = @a}

// -----

weft.program @eval(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects a library routine or a fused kernel, but got neither}}
  %y = weft.exp %x : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

weft.program @micro(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @+1 {{expects a random key (weft-derive-programs attaches it), but got none}}
  %y = weft.dropout %x {p = 0.5 : f64, op_id = 1} : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}
