// RUN: weft-opt %s --split-input-file --weft-derive-programs --weft-autodiff --verify-diagnostics
// Every mistake in a metric has its line.

weft.param @w : tensor<f32> {init = #weft.init<ones>}
// expected-error@below {{expects an output named 'loss' or outputs with weft.loss, but got none}}
weft.program @model() -> (tensor<f32> {weft.output = "m", weft.metric}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

weft.param @w : tensor<f32> {init = #weft.init<ones>}
// expected-error@below {{expects output 'm' to be a loss or a metric, but got both}}
weft.program @model() -> (tensor<f32> {weft.output = "m", weft.metric, weft.loss = 1.0 : f64}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

weft.param @w : tensor<f32> {init = #weft.init<ones>}
// expected-error@below {{expects output 'loss' to be a loss or a metric, but got both}}
weft.program @model() -> (tensor<f32> {weft.output = "loss", weft.metric}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

weft.param @w : tensor<f32> {init = #weft.init<ones>}
// expected-error@below {{expects a metric with a name that no field of a metrics file has, but got 'lr'}}
weft.program @model() -> (tensor<f32> {weft.output = "loss"}, tensor<f32> {weft.output = "lr", weft.metric}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w, %w : tensor<f32>, tensor<f32>
}

// -----

weft.param @w : tensor<4xf32> {init = #weft.init<ones>}
// expected-error@below {{expects output 'm' of type tensor<f32>, but got 'tensor<4xf32>'}}
weft.program @model() -> (tensor<f32> {weft.output = "loss"}, tensor<4xf32> {weft.output = "m", weft.metric}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4xf32>
  %loss = weft.reduce mean %w dims [0] : tensor<4xf32>
  weft.return %loss, %w : tensor<f32>, tensor<4xf32>
}

// -----

weft.param @w : tensor<f32> {init = #weft.init<ones>}
// expected-error@below {{expects output 'm' of type tensor<f32>, but got 'tensor<i32>'}}
weft.program @model() -> (tensor<f32> {weft.output = "loss"}, tensor<i32> {weft.output = "m", weft.metric}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  %m = weft.constant dense<3> : tensor<i32>
  weft.return %w, %m : tensor<f32>, tensor<i32>
}

// -----

weft.param @w : tensor<f32> {init = #weft.init<ones>}
// expected-error@below {{expects "weft.metric" on result 1 to be no value, but got 1.000000e+00 : f64}}
weft.program @model() -> (tensor<f32> {weft.output = "loss"}, tensor<f32> {weft.output = "m", weft.metric = 1.0 : f64}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w, %w : tensor<f32>, tensor<f32>
}

// -----

// expected-error@below {{expects "weft.metric" on a result of a program of kind model, micro or eval, but got it on result 0 of one of kind logits}}
weft.program @logits() -> (tensor<f32> {weft.output = "m", weft.metric}) attributes {kind = #weft.kind<logits>} {
  %m = weft.constant dense<1.0> : tensor<f32>
  weft.return %m : tensor<f32>
}

// -----

// The weight 0 is no way to watch an output.

weft.param @w : tensor<f32> {init = #weft.init<ones>}
// expected-error@below {{expects a number that is finite and not 0 in f32 as weft.loss of output 'm', but got 0.000000e+00 : f64}}
// expected-note@below {{weft.metric reports an output that is not trained}}
weft.program @model() -> (tensor<f32> {weft.output = "task", weft.loss = 1.0 : f64}, tensor<f32> {weft.output = "m", weft.loss = 0.0 : f64}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w, %w : tensor<f32>, tensor<f32>
}

// -----

// A metric that depends on the split would take the remaining rows of an
// evaluation from the loss.

weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}, tensor<f32> {weft.output = "most", weft.metric}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<3x2xf32>
  %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
  %loss = weft.reduce mean %y dims [0, 1] : tensor<4x2xf32>
  // expected-error@below {{expects metric 'most' to be a mean over rows, as the loss is, but got an op behind which it may depend on how rows are split into batches}}
  %most = weft.reduce max %y dims [0, 1] : tensor<4x2xf32>
  %half = weft.sqrt %most : tensor<f32>
  weft.return %loss, %half : tensor<f32>, tensor<f32>
}

// -----

weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "label"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<3x2xf32>
  %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
  // expected-error@below {{expects an op with an adjoint, but got a gradient for an op without one}}
  // expected-note@below {{an output with weft.metric needs no gradient}}
  %a = weft.accuracy %y, %t : tensor<4x2xf32>, tensor<4xi32>
  weft.return %a : tensor<f32>
}
