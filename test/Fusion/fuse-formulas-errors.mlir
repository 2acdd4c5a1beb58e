// RUN: weft-opt %s --weft-fuse --split-input-file --verify-diagnostics
// An op that weft-decompose did not prepare.

weft.program @composite(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{expects its formula in its place; run weft-decompose first}}
  %y = weft.silu %x : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}
