// RUN: weft-opt --weft-loss-scale --split-input-file --verify-diagnostics %s

// Preconditions on the module.

// expected-error @+1 {{expects programs of kinds micro and init (weft-derive-programs), but got none of kind micro}}
module {
}

// -----

// expected-error @+1 {{expects another name than @loss_scale, which the loss scale needs}}
weft.param @loss_scale : tensor<4xf32>

// -----

// expected-error @+1 {{expects an input 'loss_seed', but got none}}
weft.program @micro() attributes {kind = #weft.kind<micro>} {
  weft.return
}
weft.program @init() attributes {kind = #weft.kind<init>} {
  weft.return
}

// -----

// expected-error @+1 {{expects 'loss_seed' to be tensor<f32>, but got 'tensor<f64>'}}
weft.program @micro(%s: tensor<f64> {weft.input = "loss_seed"}) attributes {kind = #weft.kind<micro>} {
  weft.return
}
weft.program @init() attributes {kind = #weft.kind<init>} {
  weft.return
}
