// Models without a result for each row, and programs that are no prediction.

// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-derive-prediction

// expected-error @below {{expects a program of kind model, but got none}}
module {
}

// -----

// expected-error @below {{expects a program of kind predict, or a language model with a cross_entropy of its input 'targets' (--predict), but got neither}}
weft.program @model(%x: tensor<4x2xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "t"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %loss, %lse, %denom = weft.cross_entropy %x, %t : tensor<4x2xf32>, tensor<4xi32>
  weft.return %loss : tensor<f32>
}

// -----

module attributes {weft.vocab = 8 : i64, weft.seq = 4 : i64} {
  weft.program @model(%tokens: tensor<2x4xi32> {weft.input = "tokens"}, %targets: tensor<2x4xi32> {weft.input = "targets"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %table = weft.constant dense<1.0> : tensor<8x8xf32>
    %x = weft.embedding %table, %tokens : tensor<8x8xf32>, tensor<2x4xi32>
    // expected-error @+1 {{expects no weights of classes and no label_smoothing (--predict), but got label_smoothing 1.000000e-01; write a program of kind predict}}
    %loss, %lse, %denom = weft.cross_entropy %x, %targets {label_smoothing = 0.1 : f64} : tensor<2x4x8xf32>, tensor<2x4xi32>
    weft.return %loss : tensor<f32>
  }
}

// -----

module attributes {weft.vocab = 8 : i64, weft.seq = 4 : i64} {
  weft.program @model(%tokens: tensor<2x4xi32> {weft.input = "tokens"}, %targets: tensor<2x4xi32> {weft.input = "targets"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %table = weft.constant dense<1.0> : tensor<8x8xf32>
    %w = weft.constant dense<1.0> : tensor<8xf32>
    %x = weft.embedding %table, %tokens : tensor<8x8xf32>, tensor<2x4xi32>
    // expected-error @+1 {{expects no weights of classes and no label_smoothing (--predict), but got weights}}
    %loss, %lse, %denom = weft.cross_entropy %x, %targets weight %w : tensor<8xf32> : tensor<2x4x8xf32>, tensor<2x4xi32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// Two losses of the tokens.
module attributes {weft.vocab = 8 : i64, weft.seq = 4 : i64} {
  weft.program @model(%tokens: tensor<2x4xi32> {weft.input = "tokens"}, %targets: tensor<2x4xi32> {weft.input = "targets"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %table = weft.constant dense<1.0> : tensor<8x8xf32>
    %x = weft.embedding %table, %tokens : tensor<8x8xf32>, tensor<2x4xi32>
    // expected-note @+1 {{the first one}}
    %a, %lse, %denom = weft.cross_entropy %x, %targets : tensor<2x4x8xf32>, tensor<2x4xi32>
    // expected-error @+1 {{expects one cross_entropy of the input 'targets' (--predict), but got a second one}}
    %b, %lse2, %denom2 = weft.cross_entropy %x, %targets : tensor<2x4x8xf32>, tensor<2x4xi32>
    %loss = weft.add %a, %b : tensor<f32>, tensor<f32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// Logits that subtract the mean over the batch.
module attributes {weft.vocab = 8 : i64, weft.seq = 4 : i64} {
  weft.program @model(%tokens: tensor<2x4xi32> {weft.input = "tokens"}, %targets: tensor<2x4xi32> {weft.input = "targets"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %table = weft.constant dense<1.0> : tensor<8x8xf32>
    %x = weft.embedding %table, %tokens : tensor<8x8xf32>, tensor<2x4xi32>
    %mean = weft.reduce mean %x dims [0] : tensor<2x4x8xf32>
    // expected-error @+1 {{expects logits that depend on one row each, with rows as their first dimension (--predict), but this is not known of it}}
    %y = weft.sub %x, %mean : tensor<2x4x8xf32>, tensor<4x8xf32>
    %loss, %lse, %denom = weft.cross_entropy %y, %targets : tensor<2x4x8xf32>, tensor<2x4xi32>
    weft.return %loss : tensor<f32>
  }
}

// -----

module attributes {weft.vocab = 8 : i64, weft.seq = 4 : i64} {
  // expected-error @below {{expects another name, but got @predict, which weft-derive-prediction defines}}
  weft.param @predict : tensor<8x8xf32> {init = #weft.init<zeros>}
  weft.program @model(%tokens: tensor<2x4xi32> {weft.input = "tokens"}, %targets: tensor<2x4xi32> {weft.input = "targets"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %table = weft.read @predict : tensor<8x8xf32>
    %x = weft.embedding %table, %tokens : tensor<8x8xf32>, tensor<2x4xi32>
    %loss, %lse, %denom = weft.cross_entropy %x, %targets : tensor<2x4x8xf32>, tensor<2x4xi32>
    weft.return %loss : tensor<f32>
  }
}

// -----

weft.program @model(%x: tensor<4x2xf32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "loss"})
    attributes {kind = #weft.kind<model>} {
  %loss = weft.reduce mean %x dims [0, 1] : tensor<4x2xf32>
  weft.return %loss : tensor<f32>
}
// expected-error @below {{expects output 'y' of 4 rows like the inputs of the model, but got 'tensor<2xf32>'}}
weft.program @predict(%x: tensor<4x2xf32> {weft.input = "x"}) -> (tensor<2xf32> {weft.output = "y"})
    attributes {kind = #weft.kind<predict>} {
  %y = weft.reduce sum %x dims [0] : tensor<4x2xf32>
  weft.return %y : tensor<2xf32>
}

// -----

weft.program @model(%x: tensor<4x2xf32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "loss"})
    attributes {kind = #weft.kind<model>} {
  %loss = weft.reduce mean %x dims [0, 1] : tensor<4x2xf32>
  weft.return %loss : tensor<f32>
}
// expected-error @below {{expects input 'x' of 4 rows like the inputs of the model, but got 'tensor<8x2xf32>'}}
weft.program @predict(%x: tensor<8x2xf32> {weft.input = "x"}) -> (tensor<8x2xf32> {weft.output = "y"})
    attributes {kind = #weft.kind<predict>} {
  weft.return %x : tensor<8x2xf32>
}

// -----

weft.program @model(%x: tensor<4x2xf32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "loss"})
    attributes {kind = #weft.kind<model>} {
  %loss = weft.reduce mean %x dims [0, 1] : tensor<4x2xf32>
  weft.return %loss : tensor<f32>
}
// expected-error @below {{expects at least one output, but got none}}
weft.program @predict(%x: tensor<4x2xf32> {weft.input = "x"}) attributes {kind = #weft.kind<predict>} {
  weft.return
}

// -----

weft.program @model(%x: tensor<4x2xf32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "loss"})
    attributes {kind = #weft.kind<model>} {
  %loss = weft.reduce mean %x dims [0, 1] : tensor<4x2xf32>
  weft.return %loss : tensor<f32>
}
// expected-error @below {{expects at least one input, but got none}}
weft.program @predict() -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<predict>} {
  %y = weft.constant dense<1.0> : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

weft.param @w : tensor<4x2xf32> {init = #weft.init<zeros>}
weft.program @model(%x: tensor<4x2xf32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "loss"})
    attributes {kind = #weft.kind<model>} {
  %loss = weft.reduce mean %x dims [0, 1] : tensor<4x2xf32>
  weft.return %loss : tensor<f32>
}
weft.program @predict(%x: tensor<4x2xf32> {weft.input = "x"}) -> (tensor<4x2xf32> {weft.output = "y"})
    attributes {kind = #weft.kind<predict>} {
  // expected-error @+1 {{expects no writes in a program of kind predict, but got some}}
  weft.return %x : tensor<4x2xf32> writes @w = %x : tensor<4x2xf32>
}

// -----

weft.program @model(%x: tensor<4x2xf32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "loss"})
    attributes {kind = #weft.kind<model>} {
  %loss = weft.reduce mean %x dims [0, 1] : tensor<4x2xf32>
  weft.return %loss : tensor<f32>
}
weft.program @predict(%x: tensor<4x2xf32> {weft.input = "x"}) -> (tensor<4x2xf32> {weft.output = "y"})
    attributes {kind = #weft.kind<predict>} {
  %mean = weft.reduce mean %x dims [0] : tensor<4x2xf32>
  // expected-warning @+1 {{output 'y' is not known to depend on one row alone behind this op: it may depend on how rows are split into batches}}
  %y = weft.sub %x, %mean : tensor<4x2xf32>, tensor<2xf32>
  weft.return %y : tensor<4x2xf32>
}
