// RUN: weft-opt --split-input-file --verify-diagnostics %s

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a name, but got ""}}
  %y = weft.recompute "" {
    weft.yield %x : tensor<4xf32>
  } : tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a body that ends with weft.yield}}
  weft.recompute "a" {
    %e = weft.exp %x : tensor<4xf32>
  }
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  %y = weft.recompute "a" {
    // expected-error @below {{expects values of types ('tensor<4xf32>'), but got ()}}
    weft.yield
  } : tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects "weft.recompute" to be text, but got 1 : i64}}
  %y = weft.exp %x {weft.recompute = 1 : i64} : tensor<4xf32>
  weft.return
}
