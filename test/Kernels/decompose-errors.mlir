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
