// RUN: weft-opt --weft-expand-optimizer --split-input-file %s | FileCheck %s
// RUN: weft-opt --weft-expand-optimizer="optimizer=sgd nesterov=true clip-norm=inf" --split-input-file %s | FileCheck %s --check-prefix=SGD

// Check, clip, count, update: everything is predicated by found_inf.

weft.param @w : tensor<4x2xf32> {scope = "h.0", weft.lr_scale = 0.5 : f64}
weft.param @b : tensor<2xf32>
weft.param @frozen : tensor<2xf32> {trainable = false}
weft.state @w.grad : tensor<4x2xf32> {kind = #weft.state_kind<gradient>, param = @w}
weft.state @b.grad : tensor<2xf32> {kind = #weft.state_kind<gradient>, param = @b}

// CHECK: weft.state @step : tensor<i64> {kind = #weft.state_kind<optimizer>}
// CHECK: weft.state @w.exp_avg : tensor<4x2xf32> {kind = #weft.state_kind<optimizer>, param = @w}
// CHECK: weft.state @w.exp_avg_sq
// CHECK: weft.state @b.exp_avg
// CHECK-NOT: frozen.exp_avg
// CHECK: weft.program @apply(%[[LR:.*]]: tensor<f64> {weft.input = "lr"}, %[[B1:.*]]: tensor<f64> {weft.input = "beta1"}, %[[B2:.*]]: tensor<f64> {weft.input = "beta2"}, %[[EPS:.*]]: tensor<f64> {weft.input = "eps"}, %[[WD:.*]]: tensor<f64> {weft.input = "weight_decay"}, %{{.*}}: tensor<f64> {weft.input = "momentum"}, %[[MAX:.*]]: tensor<f64> {weft.input = "max_norm"})
// CHECK-SAME: tensor<f64> {weft.output = "grad_norm"}, tensor<i1> {weft.output = "found_inf"}
// CHECK-SAME: kind = #weft.kind<apply>
// CHECK: %[[GW:.*]] = weft.read @w.grad
// CHECK: %[[GB:.*]] = weft.read @b.grad
// CHECK: %[[NORM:.*]], %[[BAD:.*]] = weft.norm_and_check %[[GW]], %[[GB]] {p = 2.000000e+00 : f64}
// CHECK: %[[COEF:.*]] = weft.clip_coefficient %[[NORM]], %[[MAX]]
// CHECK: %[[OLD:.*]] = weft.read @step
// CHECK: %[[STEP:.*]] = weft.step_increment %[[OLD]], %[[BAD]]
// CHECK: %[[W:.*]] = weft.read @w :
// CHECK: %[[M:.*]] = weft.read @w.exp_avg :
// CHECK: %[[V:.*]] = weft.read @w.exp_avg_sq :
// CHECK: %[[W1:.*]], %[[M1:.*]], %[[V1:.*]] = weft.adamw(%[[W]], %[[M]], %[[V]], %[[GW]], %[[COEF]], %[[BAD]], %[[STEP]], %[[LR]], %[[WD]], %[[B1]], %[[B2]], %[[EPS]]) {lr_scale = 5.000000e-01 : f64, weft.scope = "h.0"}
// One dimension: no decay.
// CHECK: weft.adamw(%{{.*}}) {decay_scale = 0.000000e+00 : f64}
// CHECK: weft.return %[[NORM]], %[[BAD]] : tensor<f64>, tensor<i1> writes @step = %[[STEP]] : tensor<i64>, @w = %[[W1]] : tensor<4x2xf32>, @w.exp_avg = %[[M1]]{{.*}}, @w.exp_avg_sq = %[[V1]]

// SGD: weft.state @w.momentum_buffer
// SGD: weft.norm_and_check {{.*}} {p = 0x7FF0000000000000 : f64}
// SGD: weft.sgd({{.*}}) {lr_scale = 5.000000e-01 : f64, nesterov, weft.scope = "h.0"}
weft.program @init() attributes {kind = #weft.kind<init>} {
  weft.return
}

// -----

// A group gives a parameter another optimizer, and a factor of the decay. Each
// optimizer has its own decay, since the defaults differ.

weft.param @w : tensor<4x2xf32> {weft.optimizer = "sgd", weft.decay_scale = 0.25 : f64}
weft.param @v : tensor<4x2xf32>
weft.state @w.grad : tensor<4x2xf32> {kind = #weft.state_kind<gradient>, param = @w}
weft.state @v.grad : tensor<4x2xf32> {kind = #weft.state_kind<gradient>, param = @v}
// CHECK: weft.state @step.sgd
// CHECK-NEXT: weft.state @step :
// CHECK-NEXT: weft.state @w.momentum_buffer
// CHECK-NEXT: weft.state @v.exp_avg
// CHECK: %[[WD:[a-z0-9]*]]: tensor<f64> {weft.input = "weight_decay"}
// CHECK-SAME: %[[AWD:[a-z0-9]*]]: tensor<f64> {weft.input = "adamw_weight_decay"}
// CHECK: weft.sgd({{.*}} %[[WD]], {{[^,]*}}) {decay_scale = 2.500000e-01 : f64} :
// CHECK: weft.adamw({{.*}} %[[AWD]], {{[^,]*}}, {{[^,]*}}, {{[^,]*}})
// SGD: weft.input = "max_norm"})
weft.program @init() attributes {kind = #weft.kind<init>} {
  weft.return
}

// -----

// The init program writes the first states of the optimizer, after its other writes.

weft.param @w : tensor<4x2xbf16> {init = #weft.init<ones>}
weft.state @w.grad : tensor<4x2xbf16> {kind = #weft.state_kind<gradient>, param = @w}
// CHECK-LABEL: weft.program @init(%
// CHECK: %[[ONES:.*]] = weft.constant dense<1.000000e+00> : tensor<4x2xbf16>
// CHECK-NEXT: %[[STEP:.*]] = weft.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[M:.*]] = weft.constant dense<0.000000e+00> : tensor<4x2xf32>
// CHECK-NEXT: %[[V:.*]] = weft.constant dense<0.000000e+00> : tensor<4x2xf32>
// CHECK-NEXT: weft.return writes @w = %[[ONES]] : tensor<4x2xbf16>, @step = %[[STEP]] : tensor<i64>, @w.exp_avg = %[[M]] : tensor<4x2xf32>, @w.exp_avg_sq = %[[V]] : tensor<4x2xf32>
// SGD-LABEL: weft.program @init(%
// SGD: weft.return writes @w = %{{.*}}, @step = %{{.*}}, @w.momentum_buffer = %{{.*}} : tensor<4x2xf32>
weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
  %ones = weft.constant dense<1.0> : tensor<4x2xbf16>
  weft.return writes @w = %ones : tensor<4x2xbf16>
}

// -----

// Parameters that have a gradient in some steps only are not updated in the others, and
// count their own steps.

weft.param @w : tensor<4xf32>
weft.param @l : tensor<4xf32>
weft.param @m : tensor<2xf32>
weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
weft.state @l.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @l, weft.presence = @presence.l}
weft.state @presence.l : tensor<f32> {kind = #weft.state_kind<presence>}
weft.state @m.grad : tensor<2xf32> {kind = #weft.state_kind<gradient>, param = @m, weft.presence = @presence.l}
// CHECK: weft.state @step : tensor<i64>
// CHECK-NEXT: weft.state @step.presence.l : tensor<i64> {kind = #weft.state_kind<optimizer>}
// CHECK-NEXT: weft.state @w.exp_avg
// CHECK: weft.program @apply
// CHECK: %{{.*}}, %[[BAD:.*]] = weft.norm_and_check %{{.*}}, %{{.*}}, %{{.*}} {p =
// CHECK: %[[STEP:.*]] = weft.step_increment %{{.*}}, %[[BAD]]
// CHECK: weft.adamw({{.*}}, %[[BAD]], %[[STEP]],
// CHECK: %[[COUNT:.*]] = weft.read @presence.l
// CHECK: %[[THERE:.*]] = weft.compare gt %[[COUNT]], %{{.*}} : tensor<f32>, tensor<f32>
// CHECK: %[[ABSENT:.*]] = weft.not %[[THERE]]
// CHECK: %[[SKIP:.*]] = weft.or %[[BAD]], %[[ABSENT]]
// CHECK: %[[OLD:.*]] = weft.read @step.presence.l
// CHECK: %[[OWN:.*]] = weft.step_increment %[[OLD]], %[[SKIP]]
// CHECK: weft.adamw({{.*}}, %[[SKIP]], %[[OWN]],
// CHECK-NOT: weft.compare
// CHECK: weft.adamw({{.*}}, %[[SKIP]], %[[OWN]],
// CHECK: weft.return {{.*}}@step = %[[STEP]] : tensor<i64>, {{.*}}@step.presence.l = %[[OWN]]
weft.program @init() attributes {kind = #weft.kind<init>} {
  weft.return
}
