// RUN: weft-interp %s --program=made --outputs=%t.state --print=off
// RUN: weft-interp %s --steps=1 --state=%t.state | FileCheck %s --check-prefix=GIVEN
// RUN: weft-interp %s --steps=1 | FileCheck %s --check-prefix=INIT
// RUN: weft-interp --compare %s %s --steps=1 --tolerance=0 | FileCheck %s --check-prefix=SAME

// A refresh program brings working copies up to date after parameters were
// given; an init program writes them itself.

weft.param @w : tensor<f32>
weft.state @w.f16 : tensor<f16> {kind = #weft.state_kind<working>, param = @w}

weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
  %w = weft.constant dense<2.0> : tensor<f32>
  %h = weft.constant dense<4.0> : tensor<f16>
  weft.return writes @w = %w : tensor<f32>, @w.f16 = %h : tensor<f16>
}

weft.program @refresh() attributes {kind = #weft.kind<refresh>} {
  %w = weft.read @w : tensor<f32>
  %h = weft.cast %w : tensor<f32> to tensor<f16>
  weft.return writes @w.f16 = %h : tensor<f16>
}

// GIVEN: loss = 7 : f16
// INIT: loss = 4 : f16
weft.program @micro() -> (tensor<f16> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %h = weft.read @w.f16 : tensor<f16>
  weft.return %h : tensor<f16>
}

weft.program @apply() attributes {kind = #weft.kind<apply>} {
  weft.return
}

weft.program @made() -> (tensor<f32> {weft.output = "w"}) attributes {kind = #weft.kind<eval>} {
  %w = weft.constant dense<7.0> : tensor<f32>
  weft.return %w : tensor<f32>
}

// SAME: micro: 0 of
