// REQUIRES: full
// RUN: rm -rf %t && %python %S/Inputs/emulate.py %s %t 1 | FileCheck %s
// Norms, softmax and activations as kernels of a device, in each type, for rows that
// no chunk divides: rows of a warp and of a block.

// CHECK-COUNT-9: {{^k_.*: equal$}}
// CHECK-NEXT: {{^30 results of 9 kernels as the interpreter computes them$}}
// CHECK-NOT: {{.}}
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.program @norms_f32_143(%x: tensor<13x143xf32> {weft.input = "x"}, %w: tensor<143xf32> {weft.input = "w"}, %b: tensor<143xf32> {weft.input = "b"})
    -> (tensor<13x143xf32> {weft.output = "y"}, tensor<13x143xf32> {weft.output = "r"}, tensor<13x143xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %y, %mean, %rstd = weft.layer_norm %x, %w, %b {eps = 1.0e-5 : f64} : tensor<13x143xf32>, tensor<143xf32>
  %r, %rr = weft.rms_norm %x, %w {eps = 1.0e-6 : f64} : tensor<13x143xf32>, tensor<143xf32>
  %s = weft.softmax %x : tensor<13x143xf32>
  weft.return %y, %r, %s : tensor<13x143xf32>, tensor<13x143xf32>, tensor<13x143xf32>
}
weft.program @norms_f32_1430(%x: tensor<3x1430xf32> {weft.input = "x"}, %w: tensor<1430xf32> {weft.input = "w"}, %b: tensor<1430xf32> {weft.input = "b"})
    -> (tensor<3x1430xf32> {weft.output = "y"}, tensor<3x1430xf32> {weft.output = "r"}, tensor<3x1430xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %y, %mean, %rstd = weft.layer_norm %x, %w, %b {eps = 1.0e-5 : f64} : tensor<3x1430xf32>, tensor<1430xf32>
  %r, %rr = weft.rms_norm %x, %w {eps = 1.0e-6 : f64} : tensor<3x1430xf32>, tensor<1430xf32>
  %s = weft.softmax %x : tensor<3x1430xf32>
  weft.return %y, %r, %s : tensor<3x1430xf32>, tensor<3x1430xf32>, tensor<3x1430xf32>
}
weft.program @activations_f32(%x: tensor<7x143xf32> {weft.input = "x"}, %g: tensor<7x143xf32> {weft.input = "g"})
    -> (tensor<7x143xf32> {weft.output = "a"}, tensor<7x143xf32> {weft.output = "b"}, tensor<7x143xf32> {weft.output = "c"}, tensor<7x143xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.gelu %x {approximate = #weft.gelu_kind<tanh>} : tensor<7x143xf32>
  %b = weft.gelu %x : tensor<7x143xf32>
  %c = weft.gelu_grad %g, %x {approximate = #weft.gelu_kind<tanh>} : tensor<7x143xf32>
  %d = weft.silu %x : tensor<7x143xf32>
  weft.return %a, %b, %c, %d : tensor<7x143xf32>, tensor<7x143xf32>, tensor<7x143xf32>, tensor<7x143xf32>
}
weft.program @norms_f16_143(%x: tensor<13x143xf16> {weft.input = "x"}, %w: tensor<143xf32> {weft.input = "w"}, %b: tensor<143xf32> {weft.input = "b"})
    -> (tensor<13x143xf16> {weft.output = "y"}, tensor<13x143xf16> {weft.output = "r"}, tensor<13x143xf16> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %y, %mean, %rstd = weft.layer_norm %x, %w, %b {eps = 1.0e-5 : f64} : tensor<13x143xf16>, tensor<143xf32>
  %r, %rr = weft.rms_norm %x, %w {eps = 1.0e-6 : f64} : tensor<13x143xf16>, tensor<143xf32>
  %s = weft.softmax %x : tensor<13x143xf16>
  weft.return %y, %r, %s : tensor<13x143xf16>, tensor<13x143xf16>, tensor<13x143xf16>
}
weft.program @norms_f16_1430(%x: tensor<3x1430xf16> {weft.input = "x"}, %w: tensor<1430xf32> {weft.input = "w"}, %b: tensor<1430xf32> {weft.input = "b"})
    -> (tensor<3x1430xf16> {weft.output = "y"}, tensor<3x1430xf16> {weft.output = "r"}, tensor<3x1430xf16> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %y, %mean, %rstd = weft.layer_norm %x, %w, %b {eps = 1.0e-5 : f64} : tensor<3x1430xf16>, tensor<1430xf32>
  %r, %rr = weft.rms_norm %x, %w {eps = 1.0e-6 : f64} : tensor<3x1430xf16>, tensor<1430xf32>
  %s = weft.softmax %x : tensor<3x1430xf16>
  weft.return %y, %r, %s : tensor<3x1430xf16>, tensor<3x1430xf16>, tensor<3x1430xf16>
}
weft.program @activations_f16(%x: tensor<7x143xf16> {weft.input = "x"}, %g: tensor<7x143xf16> {weft.input = "g"})
    -> (tensor<7x143xf16> {weft.output = "a"}, tensor<7x143xf16> {weft.output = "b"}, tensor<7x143xf16> {weft.output = "c"}, tensor<7x143xf16> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.gelu %x {approximate = #weft.gelu_kind<tanh>} : tensor<7x143xf16>
  %b = weft.gelu %x : tensor<7x143xf16>
  %c = weft.gelu_grad %g, %x {approximate = #weft.gelu_kind<tanh>} : tensor<7x143xf16>
  %d = weft.silu %x : tensor<7x143xf16>
  weft.return %a, %b, %c, %d : tensor<7x143xf16>, tensor<7x143xf16>, tensor<7x143xf16>, tensor<7x143xf16>
}
weft.program @norms_bf16_143(%x: tensor<13x143xbf16> {weft.input = "x"}, %w: tensor<143xf32> {weft.input = "w"}, %b: tensor<143xf32> {weft.input = "b"})
    -> (tensor<13x143xbf16> {weft.output = "y"}, tensor<13x143xbf16> {weft.output = "r"}, tensor<13x143xbf16> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %y, %mean, %rstd = weft.layer_norm %x, %w, %b {eps = 1.0e-5 : f64} : tensor<13x143xbf16>, tensor<143xf32>
  %r, %rr = weft.rms_norm %x, %w {eps = 1.0e-6 : f64} : tensor<13x143xbf16>, tensor<143xf32>
  %s = weft.softmax %x : tensor<13x143xbf16>
  weft.return %y, %r, %s : tensor<13x143xbf16>, tensor<13x143xbf16>, tensor<13x143xbf16>
}
weft.program @norms_bf16_1430(%x: tensor<3x1430xbf16> {weft.input = "x"}, %w: tensor<1430xf32> {weft.input = "w"}, %b: tensor<1430xf32> {weft.input = "b"})
    -> (tensor<3x1430xbf16> {weft.output = "y"}, tensor<3x1430xbf16> {weft.output = "r"}, tensor<3x1430xbf16> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %y, %mean, %rstd = weft.layer_norm %x, %w, %b {eps = 1.0e-5 : f64} : tensor<3x1430xbf16>, tensor<1430xf32>
  %r, %rr = weft.rms_norm %x, %w {eps = 1.0e-6 : f64} : tensor<3x1430xbf16>, tensor<1430xf32>
  %s = weft.softmax %x : tensor<3x1430xbf16>
  weft.return %y, %r, %s : tensor<3x1430xbf16>, tensor<3x1430xbf16>, tensor<3x1430xbf16>
}
weft.program @activations_bf16(%x: tensor<7x143xbf16> {weft.input = "x"}, %g: tensor<7x143xbf16> {weft.input = "g"})
    -> (tensor<7x143xbf16> {weft.output = "a"}, tensor<7x143xbf16> {weft.output = "b"}, tensor<7x143xbf16> {weft.output = "c"}, tensor<7x143xbf16> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.gelu %x {approximate = #weft.gelu_kind<tanh>} : tensor<7x143xbf16>
  %b = weft.gelu %x : tensor<7x143xbf16>
  %c = weft.gelu_grad %g, %x {approximate = #weft.gelu_kind<tanh>} : tensor<7x143xbf16>
  %d = weft.silu %x : tensor<7x143xbf16>
  weft.return %a, %b, %c, %d : tensor<7x143xbf16>, tensor<7x143xbf16>, tensor<7x143xbf16>, tensor<7x143xbf16>
}
}
