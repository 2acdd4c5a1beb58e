// RUN: weft-opt --split-input-file --verify-diagnostics --weft-inline-recompute %s

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
  // expected-error @below {{expects "weft.recompute" to be a name, but got 1 : i64}}
  %y = weft.exp %x {weft.recompute = 1 : i64} : tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects "weft.recompute" to be a name, but got ""}}
  %y = weft.exp %x {weft.recompute = ""} : tensor<4xf32>
  weft.return
}

// -----

weft.param @w : tensor<4xf32>
weft.program @p() attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects "weft.recompute" on an op that computes something}}
  %w = weft.read @w {weft.recompute = "a"} : tensor<4xf32>
  weft.return
}

// -----

// expected-error @below {{expects "weft.recompute" on an op that computes something}}
weft.param @w : tensor<4xf32> {weft.recompute = "a"}

// -----

// Regions of two layers that were computed again at once would save nothing.
weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // expected-note @below {{the other region}}
  %y = weft.recompute "mlp" {
    weft.yield %x : tensor<4xf32>
  } : tensor<4xf32>
  // expected-error @below {{expects a name of its own, but got "mlp" again}}
  %z = weft.recompute "mlp" {
    weft.yield %y : tensor<4xf32>
  } : tensor<4xf32>
  weft.return
}
