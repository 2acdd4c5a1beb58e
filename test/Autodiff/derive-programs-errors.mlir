// RUN: weft-opt %s --weft-derive-programs --split-input-file --verify-diagnostics

// expected-error@below {{expects a program of kind model, but got none}}
module {
}

// -----

weft.param @w : tensor<f32> {init = #weft.init<ones>}
// expected-note@below {{the first one}}
weft.program @a() -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}
// expected-error@below {{expects one program of kind model, but got a second}}
weft.program @b() -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

weft.param @w : tensor<f32> {init = #weft.init<ones>}
// expected-error@below {{expects an output named 'loss' or outputs with weft.loss, but got none}}
weft.program @model() -> (tensor<f32> {weft.output = "cost"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

weft.param @w : tensor<4xf32> {init = #weft.init<ones>}
// expected-error@below {{expects output 'loss' of type tensor<f32>, but got 'tensor<4xf32>'}}
weft.program @model() -> (tensor<4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4xf32>
  weft.return %w : tensor<4xf32>
}

// -----

weft.param @w : tensor<f16> {init = #weft.init<ones>}
// expected-error@below {{expects output 'loss' of type tensor<f32>, but got 'tensor<f16>'}}
weft.program @model() -> (tensor<f16> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f16>
  weft.return %w : tensor<f16>
}

// -----

weft.param @w : tensor<2x2xf32> {init = #weft.init<ones>}
weft.program @model() -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<2x2xf32>
  // expected-note@below {{the first is here}}
  %0 = weft.dropout %w {p = 0.1 : f64, op_id = 5} : tensor<2x2xf32>
  // expected-error@below {{expects an op_id of its own, but got 5 a second time}}
  %1 = weft.dropout %0 {p = 0.1 : f64, op_id = 5} : tensor<2x2xf32>
  %l = weft.reduce sum %1 dims [0, 1] : tensor<2x2xf32>
  weft.return %l : tensor<f32>
}

// -----

weft.param @w : tensor<f32> {init = #weft.init<ones>, trainable = false}
// expected-error@below {{expects a trainable parameter, but the module has none}}
weft.program @model() -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

// expected-error@below {{expects initial values (init), but got none}}
weft.param @w : tensor<f32>
weft.program @model() -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

// expected-error@below {{expects another name, but got @micro, which weft-derive-programs defines}}
weft.param @micro : tensor<f32> {init = #weft.init<ones>}
weft.program @model() -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @micro : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

weft.param @w : tensor<f32> {init = #weft.init<ones>}
// expected-error@below {{expects other input names, but got 'rng', which the runtime fills}}
weft.program @model(%r: tensor<f32> {weft.input = "rng"}) -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

weft.param @w : tensor<f32> {init = #weft.init<ones>}
// expected-error@below {{expects an output named 'loss' or outputs with weft.loss, but got both}}
weft.program @model() -> (tensor<f32> {weft.output = "loss"}, tensor<f32> {weft.output = "aux", weft.loss = 0.1 : f64}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w, %w : tensor<f32>, tensor<f32>
}

// -----

weft.param @w : tensor<f32> {init = #weft.init<ones>}
// expected-error@below {{expects "weft.loss" on result 0 to be a finite f64, but got 0x7FF0000000000000 : f64}}
weft.program @model() -> (tensor<f32> {weft.output = "aux", weft.loss = 0x7FF0000000000000 : f64}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

weft.param @w : tensor<f32> {init = #weft.init<ones>}
// expected-error@below {{expects "weft.loss" on result 0 to be a finite f64, but got "1"}}
weft.program @model() -> (tensor<f32> {weft.output = "aux", weft.loss = "1"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

weft.param @w : tensor<4xf32> {init = #weft.init<ones>}
// expected-error@below {{expects output 'aux' of type tensor<f32>, but got 'tensor<4xf32>'}}
weft.program @model() -> (tensor<4xf32> {weft.output = "aux", weft.loss = 1.0 : f64}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4xf32>
  weft.return %w : tensor<4xf32>
}
