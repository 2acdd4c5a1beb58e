// RUN: weft-opt --weft-expand-optimizer --split-input-file --verify-diagnostics %s
// RUN: not weft-opt --weft-expand-optimizer=clip-norm=4 --split-input-file %s 2>&1 | FileCheck %s --check-prefix=NORM
// RUN: not weft-opt --weft-expand-optimizer=optimizer=lion --split-input-file %s 2>&1 | FileCheck %s --check-prefix=OPTIMIZER

// NORM: expects clip-norm to be 1, 2, 3 or inf, but got 4
// OPTIMIZER: expects "weft.optimizer" to be "adamw", "adam" or "sgd", but got "lion"

// expected-error @+1 {{expects a trainable parameter with a gradient (weft-autodiff), but got none}}
module {
  weft.param @w : tensor<4xf32>
}

// -----

weft.param @w : tensor<4xf32>
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
// expected-error @+1 {{expects another name than @step, which the optimizer needs}}
weft.param @step : tensor<4xf32>

// -----

weft.param @w : tensor<4xf32>
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
// expected-error @+1 {{expects another name than @apply, which the optimizer needs}}
weft.param @apply : tensor<4xf32>

// -----

weft.param @w : tensor<4xf32>
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
// expected-error @+1 {{expects another name than @w.exp_avg, which the optimizer needs}}
weft.param @w.exp_avg : tensor<4xf32>

// -----

// expected-error @+1 {{expects "weft.optimizer" to be "adamw", "adam" or "sgd", but got "lion"}}
weft.param @w : tensor<4xf32> {weft.optimizer = "lion"}
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}

// -----

weft.param @w : tensor<4xf32>
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
// expected-error @+1 {{expects to be the only program of kind apply, but the pass is about to build one}}
weft.program @apply() -> () attributes {kind = #weft.kind<apply>} {
  weft.return
}

// -----

// expected-error @+1 {{expects a group without `momentum`, which adamw does not have}}
weft.param @w : tensor<4xf32> {weft.numbers = {momentum = 0.5 : f64}}
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}

// -----

// expected-error @+1 {{expects a group without `beta1`, which sgd does not have}}
weft.param @w : tensor<4xf32> {weft.optimizer = "sgd", weft.numbers = {beta1 = 0.5 : f64}}
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}

// -----

// expected-note @+1 {{the first is here}}
weft.param @w : tensor<4xf32> {weft.optimizer = "sgd", weft.optimizer_group = "x"}
// expected-error @+1 {{expects optimizer sgd as the rest of group "x", but got adam}}
weft.param @v : tensor<4xf32> {weft.optimizer = "adam", weft.optimizer_group = "x"}
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
weft.state @v.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @v}

// -----

// expected-error @+1 {{expects `weft.scaler` on the loss scale together with a state of the scaler (weft-loss-scale), but got only the state}}
module {
  weft.param @w : tensor<4xf32>
  weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
  weft.state @loss_scale : tensor<f32> {kind = #weft.state_kind<scaler>}
  weft.state @loss_scale.state : tensor<3xi64> {kind = #weft.state_kind<scaler>}
}

// -----

weft.param @w : tensor<4xf32> {weft.optimizer_group = "slow"}
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
weft.state @loss_scale : tensor<f32> {kind = #weft.state_kind<scaler>}
// expected-error @+1 {{expects another name than @step.slow, which the optimizer needs}}
weft.param @step.slow : tensor<4xf32>

// -----

// Optimizer states would keep what memory holds.

// expected-error @+1 {{expects a program of kind init, but got none; run weft-derive-programs first}}
module {
  weft.param @w : tensor<4xf32>
  weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
}

// -----

weft.param @w : tensor<4xf32>
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
// expected-note @+1 {{the first one}}
weft.program @init() attributes {kind = #weft.kind<init>} {
  weft.return
}
// expected-error @+1 {{expects one program of kind init, but got a second one}}
weft.program @again() attributes {kind = #weft.kind<init>} {
  weft.return
}

// -----

weft.param @w : tensor<4xf32>
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
// expected-note @+1 {{the first one}}
weft.state @first : tensor<f32> {kind = #weft.state_kind<scaler>}
// expected-error @+1 {{expects one loss scale, but got a second one}}
weft.state @second : tensor<f32> {kind = #weft.state_kind<scaler>}

// -----

weft.param @w : tensor<4xf32>
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
// expected-note @+1 {{the first one}}
weft.state @first : tensor<3xi64> {kind = #weft.state_kind<scaler>}
// expected-error @+1 {{expects one state of the scaler, but got a second one}}
weft.state @second : tensor<3xi64> {kind = #weft.state_kind<scaler>}
