// RUN: weft-opt --weft-expand-optimizer --split-input-file %s | FileCheck %s
// RUN: weft-opt --weft-expand-optimizer --split-input-file %s | weft-opt

// One group: norm of the unscaled gradients, one coefficient that unscales and
// clips with the scale at entry, and the next scale after every update.

weft.param @w : tensor<4xf32>
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
weft.state @loss_scale : tensor<f32> {kind = #weft.state_kind<scaler>, weft.scaler = #weft.scaler<deepspeed, interval = 500>}
weft.state @loss_scale.state : tensor<3xi64> {kind = #weft.state_kind<scaler>}

// CHECK: weft.state @step : tensor<i64>
// CHECK-LABEL: weft.program @apply
// CHECK-SAME: -> (tensor<f64> {weft.output = "grad_norm"}, tensor<i1> {weft.output = "found_inf"}, tensor<f32> {weft.output = "loss_scale"}, tensor<i1> {weft.output = "scale_exhausted"})
// CHECK: %[[G:.*]] = weft.read @w.grad
// CHECK: %[[N:.*]], %[[BAD:.*]] = weft.norm_and_check %[[G]]
// CHECK: %[[SCALE:.*]] = weft.read @loss_scale : tensor<f32>
// CHECK: %[[NORM:.*]] = weft.total_norm %[[N]] skip %[[BAD]] scale %[[SCALE]] {p = 2.000000e+00 : f64}
// CHECK: %[[COEF:.*]] = weft.clip_coefficient %[[NORM]], %{{.*}} scale %[[SCALE]]
// CHECK: %[[STEP:.*]] = weft.step_increment %{{.*}}, %[[BAD]]
// CHECK: weft.adamw(%{{.*}}, %[[G]], %[[COEF]], %[[BAD]], %[[STEP]],
// CHECK: %[[OLD:.*]] = weft.read @loss_scale.state
// CHECK: %[[NEXT:.*]], %[[STATE:.*]], %[[END:.*]] = weft.scaler_update %[[SCALE]], %[[OLD]], %[[BAD]] by #weft.scaler<deepspeed, interval = 500>
// CHECK-NEXT: weft.return %[[NORM]], %[[BAD]], %[[SCALE]], %[[END]] : {{.*}} @loss_scale = %[[NEXT]] : tensor<f32>, @loss_scale.state = %[[STATE]] : tensor<3xi64>
weft.program @init() attributes {kind = #weft.kind<init>} {
  weft.return
}

// -----

// A static scale is never written.

weft.param @w : tensor<4xf32>
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
weft.state @loss_scale : tensor<f32> {kind = #weft.state_kind<scaler>}

// CHECK-LABEL: weft.program @apply
// CHECK-SAME: {weft.output = "loss_scale"})
// CHECK: weft.clip_coefficient %{{.*}}, %{{.*}} scale
// CHECK-NOT: scaler_update
// CHECK-NOT: @loss_scale =
weft.program @init() attributes {kind = #weft.kind<init>} {
  weft.return
}

// -----

// Each optimizer instance has its own check, step and numbers; the scale sees
// all of them. Moments of a bf16 parameter are f32.

weft.param @a : tensor<4xf32>
weft.param @b : tensor<4xf32> {weft.optimizer = "sgd", weft.numbers = {momentum = 0.5 : f64, nesterov = true, weight_decay = 0.25 : f64}}
weft.param @c : tensor<4xbf16> {weft.optimizer_group = "slow", weft.numbers = {beta1 = 0.5 : f64}}
weft.param @d : tensor<4xf32> {weft.optimizer = "sgd"}
weft.state @a.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @a}
weft.state @b.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @b}
weft.state @c.grad : tensor<4xbf16> {kind = #weft.state_kind<gradient>, param = @c}
weft.state @d.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @d}
weft.state @loss_scale : tensor<f32> {kind = #weft.state_kind<scaler>, weft.scaler = #weft.scaler<torch>}
weft.state @loss_scale.state : tensor<3xi64> {kind = #weft.state_kind<scaler>}

// CHECK: weft.state @step : tensor<i64>
// CHECK: weft.state @step.sgd : tensor<i64>
// CHECK: weft.state @step.slow : tensor<i64>
// CHECK: weft.state @c.exp_avg : tensor<4xf32>
// CHECK-LABEL: weft.program @apply
// CHECK-SAME: {weft.output = "found_inf"}, tensor<i1> {weft.output = "found_inf.default"}, tensor<i1> {weft.output = "found_inf.sgd"}, tensor<i1> {weft.output = "found_inf.slow"}, tensor<f32> {weft.output = "loss_scale"}
// CHECK: %[[A:.*]] = weft.read @a.grad
// CHECK: %[[NA:.*]], %[[BA:.*]] = weft.norm_and_check %[[A]]
// CHECK: %[[B:.*]] = weft.read @b.grad
// CHECK: %[[D:.*]] = weft.read @d.grad
// CHECK: %[[NB:.*]], %[[BB:.*]] = weft.norm_and_check %[[B]], %[[D]]
// CHECK: %[[NC:.*]], %[[BC:.*]] = weft.norm_and_check %{{.*}} : tensor<4xbf16>
// CHECK: weft.total_norm %[[NA]], %[[NB]], %[[NC]] skip %[[BA]], %[[BB]], %[[BC]] scale
// CHECK: %[[SA:.*]] = weft.step_increment %{{.*}}, %[[BA]]
// CHECK: %[[SB:.*]] = weft.step_increment %{{.*}}, %[[BB]]
// CHECK: %[[SC:.*]] = weft.step_increment %{{.*}}, %[[BC]]
// CHECK: weft.adamw(%{{.*}}, %[[A]], %{{.*}}, %[[BA]], %[[SA]],
// CHECK: %[[DECAY:.*]] = weft.constant dense<2.500000e-01> : tensor<f64>
// CHECK: %[[MOMENTUM:.*]] = weft.constant dense<5.000000e-01> : tensor<f64>
// CHECK: weft.sgd(%{{.*}}, %[[BB]], %[[SB]], %{{.*}}, %[[DECAY]], %[[MOMENTUM]]) {{.*}}nesterov
// CHECK: weft.adamw(%{{.*}}, %[[BC]], %[[SC]], %{{.*}}, %{{.*}}, %[[MOMENTUM]], %{{.*}}) {{.*}} -> (tensor<4xbf16>, tensor<4xf32>, tensor<4xf32>)
// CHECK: weft.sgd(%{{.*}}, %[[BB]], %[[SB]],
// CHECK: %[[AB:.*]] = weft.or %[[BA]], %[[BB]]
// CHECK: %[[ANY:.*]] = weft.or %[[AB]], %[[BC]]
// CHECK: weft.scaler_update %{{.*}}, %{{.*}}, %[[ANY]]
// CHECK: weft.return %{{.*}}, %[[ANY]], %[[BA]], %[[BB]], %[[BC]],
weft.program @init() attributes {kind = #weft.kind<init>} {
  weft.return
}

// -----

// Without a loss scale all groups stop together, by one check, but each counts its
// own steps.

weft.param @a : tensor<4xf32>
weft.param @b : tensor<4xf32> {weft.optimizer_group = "slow", weft.numbers = {eps = 0.5 : f64}}
weft.state @a.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @a}
weft.state @b.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @b}

// CHECK: module attributes {weft.training = #weft.training<optimizers = ["adamw"], counters = {step = ["a"], step.slow = ["b"]}>,
// CHECK-SAME: weft.update_groups = [{decay_scale = 0.000000e+00 : f64, lr_scale = 1.000000e+00 : f64, name = "", optimizer = "adamw", params = ["a"]},
// CHECK-SAME: {decay_scale = 0.000000e+00 : f64, lr_scale = 1.000000e+00 : f64, name = "slow", numbers = {eps = 5.000000e-01 : f64}, optimizer = "adamw", params = ["b"]}]}
// CHECK: weft.state @step : tensor<i64>
// CHECK: weft.state @step.slow : tensor<i64>
// CHECK-LABEL: weft.program @apply
// CHECK-SAME: {weft.output = "found_inf"})
// CHECK: %{{.*}}, %[[BAD:.*]] = weft.norm_and_check %{{.*}}, %{{.*}} {
// CHECK-NOT: total_norm
// CHECK: %[[OLD:.*]] = weft.read @step :
// CHECK: weft.step_increment %[[OLD]], %[[BAD]]
// CHECK: %[[SLOW:.*]] = weft.read @step.slow :
// CHECK: weft.step_increment %[[SLOW]], %[[BAD]]
// CHECK: %[[EPS:.*]] = weft.constant dense<5.000000e-01> : tensor<f64>
// CHECK: weft.adamw(%{{.*}}, %[[EPS]])
weft.program @init() attributes {kind = #weft.kind<init>} {
  weft.return
}
