// RUN: weft-opt %s --weft-decompose --weft-fuse --split-input-file --verify-diagnostics
// Claims of an edited dump that nothing can carry out.

weft.program @kind(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects no weft.impl where no routine runs the op, but got "relu"}}
  %y = weft.relu %x {weft.impl = "relu"} : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

weft.program @empty(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects no weft.impl where no routine runs the op, but got ""}}
  %y = weft.exp %x {weft.impl = ""} : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

weft.program @folded(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects no weft.folded without weft.impl}}
  %y = weft.tanh %x {weft.folded} : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}
