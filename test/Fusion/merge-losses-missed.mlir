// RUN: weft-opt %s --weft-merge-losses --remarks-filter=fusion --split-input-file --verify-diagnostics | FileCheck %s
// Losses that are not merged with their gradients stay as they are, and say why.

// CHECK-COUNT-4: weft.cross_entropy_grad
weft.program @smoothed(%x: tensor<16x64xf32> {weft.input = "x"}, %t: tensor<16xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"})
    -> (tensor<f32> {weft.output = "l"}, tensor<16x64xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{cross_entropy is not merged with its gradient: its classes have weights or smoothed labels}}
  %l, %lse, %n = weft.cross_entropy %x, %t {label_smoothing = 0.1 : f64} : tensor<16x64xf32>, tensor<16xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n {label_smoothing = 0.1 : f64} : tensor<f32>, tensor<16x64xf32>, tensor<16xi32>, tensor<16xf32>
  weft.return %l, %d : tensor<f32>, tensor<16x64xf32>
}

// -----

weft.program @wide(%x: tensor<16x64xf64> {weft.input = "x"}, %t: tensor<16xi32> {weft.input = "t"}, %g: tensor<f64> {weft.input = "g"})
    -> (tensor<f64> {weft.output = "l"}, tensor<16x64xf64> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{cross_entropy is not merged with its gradient: its logits are f64}}
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<16x64xf64>, tensor<16xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n : tensor<f64>, tensor<16x64xf64>, tensor<16xi32>, tensor<16xf64>
  weft.return %l, %d : tensor<f64>, tensor<16x64xf64>
}

// -----

weft.program @other_logits(%x: tensor<16x64xf32> {weft.input = "x"}, %y: tensor<16x64xf32> {weft.input = "y"}, %t: tensor<16xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"})
    -> (tensor<f32> {weft.output = "l"}, tensor<16x64xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{cross_entropy is not merged with its gradient: its gradient has other operands}}
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<16x64xf32>, tensor<16xi32>
  %d = weft.cross_entropy_grad %g, %y, %t, %lse, %n : tensor<f32>, tensor<16x64xf32>, tensor<16xi32>, tensor<16xf32>
  weft.return %l, %d : tensor<f32>, tensor<16x64xf32>
}

// -----

// The gradient of the squared loss.
weft.program @squared(%x: tensor<16x64xf32> {weft.input = "x"}, %t: tensor<16xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"})
    -> (tensor<f32> {weft.output = "l"}, tensor<16x64xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  // expected-remark @+1 {{cross_entropy is not merged with its gradient: the gradient of the loss is not known before it}}
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<16x64xf32>, tensor<16xi32>
  %s = weft.mul %g, %l : tensor<f32>, tensor<f32>
  %d = weft.cross_entropy_grad %s, %x, %t, %lse, %n : tensor<f32>, tensor<16x64xf32>, tensor<16xi32>, tensor<16xf32>
  weft.return %l, %d : tensor<f32>, tensor<16x64xf32>
}
