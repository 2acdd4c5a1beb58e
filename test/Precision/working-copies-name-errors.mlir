// RUN: weft-opt %s --weft-working-copies -split-input-file -verify-diagnostics
// Names that copies need, and a parameter that no optimizer op updates.

// expected-error @below {{expects the symbol @w.bf16 to be free for its working copy, but it is taken}}
weft.param @w : tensor<4x3xf32>
// expected-note @below {{taken here}}
weft.param @w.bf16 : tensor<4x3xf32>
weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
  %w = weft.constant dense<0.0> : tensor<4x3xf32>
  weft.return writes @w = %w : tensor<4x3xf32>
}
weft.program @eval() attributes {kind = #weft.kind<eval>} {
  %w = weft.read @w : tensor<4x3xf32>
  %l = weft.cast %w : tensor<4x3xf32> to tensor<4x3xbf16>
  weft.return
}
weft.program @apply() attributes {kind = #weft.kind<apply>} {
  weft.return
}

// -----

weft.param @w : tensor<4x3xf32>
// expected-error @below {{expects another name than @refresh, which working copies need}}
weft.param @refresh : tensor<4x3xf32>
weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
  %w = weft.constant dense<0.0> : tensor<4x3xf32>
  weft.return writes @w = %w : tensor<4x3xf32>
}
weft.program @eval() attributes {kind = #weft.kind<eval>} {
  %w = weft.read @w : tensor<4x3xf32>
  %l = weft.cast %w : tensor<4x3xf32> to tensor<4x3xbf16>
  weft.return
}
weft.program @apply() attributes {kind = #weft.kind<apply>} {
  weft.return
}

// -----

weft.param @w : tensor<4x3xf32>
weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
  %w = weft.constant dense<0.0> : tensor<4x3xf32>
  weft.return writes @w = %w : tensor<4x3xf32>
}
weft.program @eval() attributes {kind = #weft.kind<eval>} {
  %w = weft.read @w : tensor<4x3xf32>
  %l = weft.cast %w : tensor<4x3xf32> to tensor<4x3xbf16>
  weft.return
}
// expected-error @below {{expects the new value of @w to come from an optimizer op, but it does not}}
weft.program @apply() attributes {kind = #weft.kind<apply>} {
  %w = weft.read @w : tensor<4x3xf32>
  %n = weft.neg %w : tensor<4x3xf32>
  weft.return writes @w = %n : tensor<4x3xf32>
}
