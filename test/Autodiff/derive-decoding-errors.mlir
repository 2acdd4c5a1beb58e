// Models that a cache of keys and values cannot sample.

// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-derive-decoding

// A sum over positions.
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<4x4xf32>
  %rows = weft.embedding %table, %tokens : tensor<4x4xf32>, tensor<1x8xi32>
  // expected-error @+1 {{expects a program that computes each position of a sample alone, except in attention (--kv-cache), but it joins positions}}
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
  // expected-error @+1 {{but it is not causal over the tokens of one document}}
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

// expected-error @below {{but it has the name @decode, which weft-derive-decoding defines}}
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

// expected-error @below {{but it has no input 'tokens' of one row with 2 or more i32}}
weft.program @logits(%tokens: tensor<1x1xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<4x4xf32>
  %last = weft.embedding %table, %at : tensor<4x4xf32>, tensor<1xi32>
  weft.return %last : tensor<1x4xf32>
}

// -----

// Keys that change with the position of the last token.
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<8x4xf32>
  %rows = weft.embedding %table, %tokens : tensor<8x4xf32>, tensor<1x8xi32>
  %part = weft.embedding %table, %at : tensor<8x4xf32>, tensor<1xi32>
  // expected-error @+1 {{but it reads the position, or the row at it, for all rows}}
  %scaled = weft.mul %rows, %part : tensor<1x8x4xf32>, tensor<1x4xf32>
  %flat = weft.reshape %scaled : tensor<1x8x4xf32> to tensor<8x4xf32>
  %last = weft.embedding %flat, %at : tensor<8x4xf32>, tensor<1xi32>
  weft.return %last : tensor<1x4xf32>
}

// -----

// Heads as rows of a batch.
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<8x4xf32>
  %rows = weft.embedding %table, %tokens : tensor<8x4xf32>, tensor<1x8xi32>
  %split = weft.reshape %rows : tensor<1x8x4xf32> to tensor<1x8x2x2xf32>
  %swapped = weft.transpose %split [2, 1, 0, 3] : tensor<1x8x2x2xf32>
  // expected-error @+1 {{but it is not causal over the tokens of one document}}
  %out, %lse = weft.attention %swapped, %swapped, %swapped {causal, scale = 0.5 : f64}
      : tensor<2x8x1x2xf32>, tensor<2x8x1x2xf32>, tensor<2x8x1x2xf32>
  %back = weft.transpose %out [2, 1, 0, 3] : tensor<2x8x1x2xf32>
  %flat = weft.reshape %back : tensor<1x8x2x2xf32> to tensor<8x4xf32>
  %last = weft.embedding %flat, %at : tensor<8x4xf32>, tensor<1xi32>
  weft.return %last : tensor<1x4xf32>
}

// -----

// Rotary tables of tokens.
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<8x4xf32>
  %rows = weft.embedding %table, %tokens : tensor<8x4xf32>, tensor<1x8xi32>
  %x = weft.reshape %rows : tensor<1x8x4xf32> to tensor<1x8x1x4xf32>
  %half = weft.slice %rows offsets [0, 0, 0] sizes [1, 8, 2] strides [1, 1, 1] : tensor<1x8x4xf32>
  %table2 = weft.reshape %half : tensor<1x8x2xf32> to tensor<8x2xf32>
  // expected-error @+1 {{but it joins positions}}
  %turned = weft.rope %x, %table2, %table2 : tensor<1x8x1x4xf32>, tensor<8x2xf32>
  %flat = weft.reshape %turned : tensor<1x8x1x4xf32> to tensor<8x4xf32>
  %last = weft.embedding %flat, %at : tensor<8x4xf32>, tensor<1xi32>
  weft.return %last : tensor<1x4xf32>
}

// -----

// A row along the width.
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<8x4xf32>
  %rows = weft.embedding %table, %tokens : tensor<8x4xf32>, tensor<1x8xi32>
  %square = weft.concat %rows, %rows {dim = 2 : i64} : tensor<1x8x4xf32>, tensor<1x8x4xf32>
  %flat = weft.reshape %square : tensor<1x8x8xf32> to tensor<8x8xf32>
  %turned = weft.transpose %flat [1, 0] : tensor<8x8xf32>
  // expected-error @+1 {{but it reads the position, or the row at it, for all rows}}
  %last = weft.embedding %turned, %at : tensor<8x8xf32>, tensor<1xi32>
  %part = weft.slice %last offsets [0, 0] sizes [1, 4] strides [1, 1] : tensor<1x8xf32>
  weft.return %part : tensor<1x4xf32>
}

// -----

// expected-error @below {{but it has no input 'position' of one i32}}
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi64> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<8x4xf32>
  %last = weft.embedding %table, %at : tensor<8x4xf32>, tensor<1xi64>
  weft.return %last : tensor<1x4xf32>
}

// -----

// expected-error @below {{but it has no input 'tokens' of one row with 2 or more i32}}
weft.program @logits(%tokens: tensor<i32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<8x4xf32>
  %last = weft.embedding %table, %at : tensor<8x4xf32>, tensor<1xi32>
  weft.return %last : tensor<1x4xf32>
}

// -----

weft.param @kept : tensor<1x4xf32> {init = #weft.init<zeros>}
// expected-error @below {{but it writes states}}
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<8x4xf32>
  %rows = weft.embedding %table, %tokens : tensor<8x4xf32>, tensor<1x8xi32>
  %flat = weft.reshape %rows : tensor<1x8x4xf32> to tensor<8x4xf32>
  %last = weft.embedding %flat, %at : tensor<8x4xf32>, tensor<1xi32>
  weft.return %last : tensor<1x4xf32> writes @kept = %last : tensor<1x4xf32>
}

// -----

// Integers that an f32 may not have.
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<8x4xf32>
  %offsets = weft.constant dense<[0, 16777217, 0, 0, 0, 0, 0, 0]> : tensor<8xi32>
  // expected-error @+1 {{but it reads tensor<8xi32> as a table of positions, whose integers are not known to be within 2^24}}
  %ids = weft.add %tokens, %offsets : tensor<1x8xi32>, tensor<8xi32>
  %rows = weft.embedding %table, %ids : tensor<8x4xf32>, tensor<1x8xi32>
  %flat = weft.reshape %rows : tensor<1x8x4xf32> to tensor<8x4xf32>
  %last = weft.embedding %flat, %at : tensor<8x4xf32>, tensor<1xi32>
  weft.return %last : tensor<1x4xf32>
}
