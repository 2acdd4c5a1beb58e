// RUN: weft-opt --split-input-file --verify-diagnostics %s

// Discardable attributes `weft.NAME`: each has a rule, and no other name is one.

// expected-error @below {{expects no attribute "weft.learning_rate": weft has none of that name}}
weft.param @w : tensor<4xf32> {weft.learning_rate = 1.0 : f64}

// -----

// expected-error @below {{expects no attribute "weft.frobnicate": weft has none of that name}}
module attributes {weft.frobnicate} {
}

// -----

// expected-error @below {{expects "weft.lr_scale" to be a finite f64, but got "x"}}
weft.param @w : tensor<4xf32> {weft.lr_scale = "x"}

// -----

// expected-error @below {{expects "weft.scope" to be text, but got 3 : i64}}
weft.param @w : tensor<4xf32> {weft.scope = 3}

// -----

// expected-error @below {{expects "weft.optimizer" to be "adamw", "adam" or "sgd", but got 5 : i64}}
weft.param @w : tensor<4xf32> {weft.optimizer = 5}

// -----

// expected-error @below {{expects "weft.numbers" to be a dictionary of momentum, beta1, beta2, eps and weight_decay as f64 and nesterov as a bool, but got {beta1 = 5 : i64}}}
weft.param @w : tensor<4xf32> {weft.numbers = {beta1 = 5}}

// -----

// expected-error @below {{expects "weft.numbers" to be a dictionary of}}
weft.param @w : tensor<4xf32> {weft.numbers = {betax = 0.5 : f64}}

// -----

// expected-error @below {{expects "weft.numbers" to be a dictionary of}}
weft.param @w : tensor<4xf32> {weft.numbers = 3}

// -----

// expected-error @below {{expects "weft.scaler" to be a dictionary of policy, growth, backoff and minimum as f64, interval and hysteresis as i64, and, if it is there, consecutive as a bool, but got 3 : i64}}
weft.state @s : tensor<f32> {kind = #weft.state_kind<scaler>, weft.scaler = 3}

// -----

// expected-error @below {{expects "weft.scaler" to be a dictionary of}}
weft.state @s : tensor<f32> {kind = #weft.state_kind<scaler>, weft.scaler = {policy = #weft.scaler_policy<torch>, growth = 2.0 : f64, backoff = 0.5 : f64, interval = 3.0 : f64, hysteresis = 1, minimum = 0.0 : f64}}

// -----

// expected-error @below {{expects no attribute "weft.inputs" on argument 0: weft has none of that name}}
weft.program @p(%x: tensor<4xf32> {weft.input = "x", weft.inputs = "y"}) attributes {kind = #weft.kind<model>} {
  weft.return
}
