// RUN: weft-opt %s --weft-autodiff --split-input-file --verify-diagnostics
// RUN: not weft-opt %S/accumulator.mlir --weft-autodiff=grad-dtype=f16 2>&1 | FileCheck %s --check-prefix=DTYPE
// RUN: not weft-opt %S/accumulator.mlir --weft-autodiff=accumulation=yes 2>&1 | FileCheck %s --check-prefix=ACCUMULATION
// DTYPE: for the --grad-dtype option: Cannot find option named 'f16'!
// ACCUMULATION: for the --accumulation option: Cannot find option named 'yes'!

// expected-error@below {{expects a program of kind micro, but got none; run weft-derive-programs first}}
module {
}

// -----

weft.param @w : tensor<f32>
// expected-error@below {{expects an input 'loss_seed', but got none; run weft-derive-programs first}}
weft.program @micro() -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

weft.param @w : tensor<f32>
// expected-error@below {{expects an output 'loss', but got none}}
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "cost"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

weft.param @w : tensor<f32>
// expected-error@below {{expects 'loss_seed' to have the type of the loss, 'tensor<f32>', but got 'tensor<f64>'}}
weft.program @micro(%s: tensor<f64> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

weft.param @w : tensor<f32> {trainable = false}
// expected-error@below {{expects the loss to depend on a trainable parameter, but it depends on none}}
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

weft.param @w : tensor<f32>
// expected-note@below {{tied here}}
weft.param @v : tensor<f32> {tie = @w}
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  // expected-error@below {{expects ties to be resolved by weft-tie-params, but got the tied parameter @v}}
  %w = weft.read @v : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

// expected-error@below {{expects the symbol @w.grad to be free for its gradient, but it is taken}}
weft.param @w : tensor<f32>
// expected-note@below {{taken here}}
weft.param @w.grad : tensor<f32> {trainable = false}
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}

// -----

// expected-error@below {{expects the symbol @presence.w to be free for its presence, but it is taken}}
weft.param @w : tensor<4xf32>
// expected-note@below {{taken here}}
weft.param @presence.w : tensor<4xf32>
weft.program @micro(%rng: tensor<2xi64> {weft.input = "rng"}, %s: tensor<f32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %x = weft.read @presence.w : tensor<4xf32>
  %w = weft.read @w : tensor<4xf32>
  %f = weft.mul %x, %w : tensor<4xf32>, tensor<4xf32>
  %y, %dropped = weft.layer_drop %x, %f rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 1} : tensor<4xf32>
  %loss = weft.reduce mean %y dims [0] : tensor<4xf32>
  weft.return %loss : tensor<f32>
}

// -----

// An op without an adjoint is an error where its gradient is needed.

weft.param @w : tensor<f32>
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<f32>
  // expected-error@below {{expects an op with an adjoint, but got a gradient for an op without one}}
  // expected-note@below {{an output with weft.metric needs no gradient}}
  %l = weft.accumulate %w, %s, %a : tensor<f32>
  weft.return %l : tensor<f32>
}

// -----

// It is none where no gradient is needed.

weft.param @w : tensor<f32>
weft.program @micro(%x: tensor<f32> {weft.input = "x"}, %s: tensor<f32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<f32>
  %unused = weft.accumulate %w, %s, %a : tensor<f32>
  %y = weft.accumulate %x, %s, %a : tensor<f32>
  %l = weft.mul %w, %y : tensor<f32>, tensor<f32>
  weft.return %l : tensor<f32>
}

// -----

weft.param @w : tensor<1x2x1x2xf32>
weft.param @c : tensor<2x1xf32>
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<1x2x1x2xf32>
  %c = weft.read @c : tensor<2x1xf32>
  // expected-error@below {{does not support a gradient of 'cos' yet; compute it from frozen parameters}}
  %r = weft.rope %w, %c, %c : tensor<1x2x1x2xf32>, tensor<2x1xf32>
  %l = weft.reduce sum %r dims [0, 1, 2, 3] : tensor<1x2x1x2xf32>
  weft.return %l : tensor<f32>
}

// -----

weft.param @w : tensor<2x4xf32>
weft.param @c : tensor<4xf32>
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<2x4xf32>
  %c = weft.read @c : tensor<4xf32>
  // expected-error@below {{expects a gradient only for result 0, but result 1 is used in the loss}}
  %y, %rstd = weft.rms_norm %w, %c {eps = 1.0e-6 : f64} : tensor<2x4xf32>, tensor<4xf32>
  %l = weft.reduce sum %rstd dims [0] : tensor<2xf32>
  weft.return %l : tensor<f32>
}

// -----

weft.param @w : tensor<4xf32>
weft.program @micro(%s: tensor<4xf32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4xf32>
  // expected-error@below {{expects no dtype, but got 'f32'; run weft-autocast first}}
  %y = weft.softmax %w {dtype = f32} : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

weft.param @w : tensor<4xf32>
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4xf32>
  // expected-error@below {{expects no dtype, but got 'f32'; run weft-autocast first}}
  %y = weft.reduce sum %w dims [0] {dtype = f32} : tensor<4xf32>
  weft.return %y : tensor<f32>
}

// -----

weft.param @w : tensor<4xf32>
weft.program @micro(%s: tensor<4xf32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<4xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4xf32>
  // expected-error@below {{expects no region with a cast policy; run weft-autocast first}}
  %y = weft.autocast attributes {enabled = false} {
    %e = weft.exp %w : tensor<4xf32>
    weft.yield %e : tensor<4xf32>
  } : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

// Which of two would be differentiated is nobody's choice.
weft.param @w : tensor<f32>
// expected-note@below {{the first one}}
weft.program @micro(%s: tensor<f32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}
// expected-error@below {{expects one program of kind micro, but got a second one}}
weft.program @other(%s: tensor<f32> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}
