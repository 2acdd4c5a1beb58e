// Models that a cache of keys and values cannot sample.

// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-derive-decoding

// A sum over positions.
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<4x4xf32>
  %rows = weft.embedding %table, %tokens : tensor<4x4xf32>, tensor<1x8xi32>
  // expected-error @+1 {{expects an op that computes each position of a sample alone, or attention (--kv-cache), but joins positions}}
  %sum = weft.reduce sum %rows dims [1] : tensor<1x8x4xf32>
  weft.return %sum : tensor<1x4xf32>
}

// -----

// Attention to later positions.
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<4x4xf32>
  %rows = weft.embedding %table, %tokens : tensor<4x4xf32>, tensor<1x8xi32>
  %x = weft.reshape %rows : tensor<1x8x4xf32> to tensor<1x8x1x4xf32>
  // expected-error @+1 {{but this attention is not causal over the tokens of one document}}
  %out, %lse = weft.attention %x, %x, %x {scale = 0.5 : f64}
      : tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>
  %flat = weft.reshape %out : tensor<1x8x1x4xf32> to tensor<8x4xf32>
  %last = weft.embedding %flat, %at : tensor<8x4xf32>, tensor<1xi32>
  weft.return %last : tensor<1x4xf32>
}

// -----

// expected-error @below {{expects a program of kind logits (--kv-cache), but got none}}
module {
}

// -----

// expected-error @below {{expects another name, but got @decode, which weft-derive-decoding defines}}
weft.param @decode : tensor<2xf32> {init = #weft.init<zeros>}
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<4x4xf32>
  %last = weft.embedding %table, %at : tensor<4x4xf32>, tensor<1xi32>
  weft.return %last : tensor<1x4xf32>
}

// -----

weft.program @logits(%tokens: tensor<1x1xi32> {weft.input = "tokens"},
// expected-error @-1 {{expects a sequence of 2 or more tokens (--kv-cache), but got 1}}
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<4x4xf32>
  %last = weft.embedding %table, %at : tensor<4x4xf32>, tensor<1xi32>
  weft.return %last : tensor<1x4xf32>
}
