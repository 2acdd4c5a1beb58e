// RUN: weft-opt --weft-expand-optimizer --split-input-file --verify-diagnostics %s
// RUN: not weft-opt --weft-expand-optimizer=clip-norm=4 --split-input-file %s 2>&1 | FileCheck %s --check-prefix=NORM
// RUN: not weft-opt --weft-expand-optimizer=optimizer=lion --split-input-file %s 2>&1 | FileCheck %s --check-prefix=OPTIMIZER

// NORM: expects clip-norm to be 1, 2, 3 or inf, but got 4
// OPTIMIZER: expects optimizer to be adamw, adam or sgd, but got lion

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

// expected-error @+1 {{expects optimizer to be adamw, adam or sgd, but got lion}}
weft.param @w : tensor<4xf32> {weft.optimizer = "lion"}
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}

// -----

weft.param @w : tensor<4xf32>
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
// expected-error @+1 {{expects to be the only program of kind apply, but the pass is about to build one}}
weft.program @apply() -> () attributes {kind = #weft.kind<apply>} {
  weft.return
}
