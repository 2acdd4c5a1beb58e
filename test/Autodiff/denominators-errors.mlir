// RUN: weft-opt %s --weft-derive-programs --split-input-file --verify-diagnostics

// Denominators are computed ahead of a step: from data, constants and frozen
// parameters.

module {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.param @c : tensor<2xf32> {init = #weft.init<ones>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    // expected-note @+1 {{it is read here}}
    %c = weft.read @c : tensor<2xf32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    // expected-error @+1 {{'weft.cross_entropy' op expects targets and weights that are known before the step, but got some that depend on a trainable parameter; use reduction = sum and divide by a number that is known}}
    %loss, %lse, %denom = weft.cross_entropy %y, %t weight %c : tensor<2xf32> : tensor<4x2xf32>, tensor<4xi32>
    weft.return %loss : tensor<f32>
  }
}

// -----

module {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "label"}, %v: tensor<4xf32> {weft.input = "v"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    // expected-note @+1 {{it is read here}}
    %d = weft.dropout %v {p = 5.0e-1 : f64, op_id = 1 : i64} : tensor<4xf32>
    %zero = weft.constant dense<0.0> : tensor<f32>
    %kept = weft.compare ne %d, %zero : tensor<4xf32>, tensor<f32>
    %none = weft.constant dense<-100> : tensor<i32>
    %some = weft.select %kept, %t, %none : tensor<4xi1>, tensor<4xi32>, tensor<i32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    // expected-error @+1 {{expects targets and weights that are known before the step, but got some that depend on random numbers}}
    %loss, %lse, %denom = weft.cross_entropy %y, %some : tensor<4x2xf32>, tensor<4xi32>
    weft.return %loss : tensor<f32>
  }
}

// -----

module {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.state @seen : tensor<2xf32> {kind = #weft.state_kind<optimizer>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    // expected-note @+1 {{it is read here}}
    %c = weft.read @seen : tensor<2xf32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    // expected-error @+1 {{but got some that depend on a state}}
    %loss, %lse, %denom = weft.cross_entropy %y, %t weight %c : tensor<2xf32> : tensor<4x2xf32>, tensor<4xi32>
    weft.return %loss : tensor<f32>
  }
}

// -----

module {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  // expected-error @+1 {{expects another name, but got @denominator.0, which weft-derive-programs defines}}
  weft.param @denominator.0 : tensor<2xf32> {init = #weft.init<ones>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    %loss, %lse, %denom = weft.cross_entropy %y, %t : tensor<4x2xf32>, tensor<4xi32>
    weft.return %loss : tensor<f32>
  }
}

// -----

weft.param @w : tensor<f32> {init = #weft.init<ones>}
// expected-error@below {{expects other input names, but got 'batch_share', which the runtime fills}}
weft.program @model(%s: tensor<4xf32> {weft.input = "batch_share"}) -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  weft.return %w : tensor<f32>
}
