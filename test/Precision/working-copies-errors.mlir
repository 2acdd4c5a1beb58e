// RUN: weft-opt %s --weft-working-copies -split-input-file -verify-diagnostics
// RUN: weft-opt %s --weft-working-copies="master=false" -split-input-file -verify-diagnostics
// Modules that the pass cannot work on.

// expected-error @below {{expects programs of kind init and apply, but got none; run weft-expand-optimizer first}}
module {
}

// -----

weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
  weft.return
}
// expected-note @below {{the first one}}
weft.program @apply() attributes {kind = #weft.kind<apply>} {
  weft.return
}
// expected-error @below {{expects one program of kind apply, but got a second one}}
weft.program @other() attributes {kind = #weft.kind<apply>} {
  weft.return
}

// -----

weft.param @w : tensor<4x3xf32>
// expected-error @below {{expects a write of @w, but got none}}
weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
  weft.return
}
weft.program @eval(%x: tensor<8x4xbf16> {weft.input = "x"}) attributes {kind = #weft.kind<eval>} {
  %w = weft.read @w : tensor<4x3xf32>
  %l = weft.cast %w : tensor<4x3xf32> to tensor<4x3xbf16>
  weft.return
}
weft.program @apply() attributes {kind = #weft.kind<apply>} {
  weft.return
}
