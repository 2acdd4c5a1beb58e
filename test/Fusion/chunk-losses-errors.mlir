// RUN: weft-opt %s --weft-chunk-losses=chunks=3 --split-input-file --verify-diagnostics
// Heads that have no chunks of rows are errors at their loss.

// expected-error @+1 {{expects a cross_entropy for --loss-chunks, but got none}}
module {
weft.program @none(%h: tensor<8x4xf32> {weft.input = "h"}) -> (tensor<8x4xf32> {weft.output = "x"}) attributes {kind = #weft.kind<eval>} {
  weft.return %h : tensor<8x4xf32>
}
}

// -----

weft.program @no_product(%x: tensor<8x16xf32> {weft.input = "x"}, %t: tensor<8xi32> {weft.input = "t"}) -> (tensor<f32> {weft.output = "l"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @+1 {{does not support logits that are not a product of rows and a matrix in chunks of rows yet; leave out --loss-chunks}}
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<8x16xf32>, tensor<8xi32>
  weft.return %l : tensor<f32>
}

// -----

weft.program @output(%h: tensor<8x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"}) -> (tensor<f32> {weft.output = "l"}, tensor<8x16xf32> {weft.output = "x"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
  // expected-error @+1 {{does not support logits that other ops read in chunks of rows yet}}
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<8x16xf32>, tensor<8xi32>
  weft.return %l, %x : tensor<f32>, tensor<8x16xf32>
}

// -----

weft.program @gradient(%h: tensor<8x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"}) -> (tensor<16xf32> {weft.output = "b"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
  // expected-error @+1 {{does not support a gradient of logits that other ops read in chunks of rows yet}}
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<8x16xf32>, tensor<8xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n : tensor<f32>, tensor<8x16xf32>, tensor<8xi32>, tensor<8xf32>
  %b = weft.reduce sum %d dims [0] : tensor<8x16xf32>
  weft.return %b : tensor<16xf32>
}

// -----

weft.program @squared(%h: tensor<8x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"}) -> (tensor<8x4xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
  // expected-error @+1 {{does not support a gradient of the loss that is not known before it in chunks of rows yet}}
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<8x16xf32>, tensor<8xi32>
  %s = weft.mul %g, %l : tensor<f32>, tensor<f32>
  %d = weft.cross_entropy_grad %s, %x, %t, %lse, %n : tensor<f32>, tensor<8x16xf32>, tensor<8xi32>, tensor<8xf32>
  %dh = weft.matmul %d, %w : tensor<8x16xf32>, tensor<16x4xf32>
  weft.return %dh : tensor<8x4xf32>
}

// -----

weft.program @sums(%h: tensor<8x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"}) -> (tensor<8x4xf32> {weft.output = "d"}, tensor<8xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
  // expected-error @+1 {{does not support a row's logarithm of sums that other ops read in chunks of rows yet}}
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<8x16xf32>, tensor<8xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n : tensor<f32>, tensor<8x16xf32>, tensor<8xi32>, tensor<8xf32>
  %dh = weft.matmul %d, %w : tensor<8x16xf32>, tensor<16x4xf32>
  weft.return %dh, %lse : tensor<8x4xf32>, tensor<8xf32>
}

// -----

weft.program @few(%h: tensor<2x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<2xi32> {weft.input = "t"}) -> (tensor<f32> {weft.output = "l"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<2x4xf32>, tensor<16x4xf32>
  // expected-error @+1 {{expects at most 2 chunks (--loss-chunks), one for each row, but got 3}}
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<2x16xf32>, tensor<2xi32>
  weft.return %l : tensor<f32>
}

// -----

weft.program @read_sums(%h: tensor<8x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"}) -> (tensor<f32> {weft.output = "l"}, tensor<8xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
  // expected-error @+1 {{does not support a row's logarithm of sums that other ops read in chunks of rows yet}}
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<8x16xf32>, tensor<8xi32>
  weft.return %l, %lse : tensor<f32>, tensor<8xf32>
}

// -----

weft.program @read_divisor(%h: tensor<8x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"}) -> (tensor<f32> {weft.output = "l"}, tensor<f32> {weft.output = "n"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
  // expected-error @+1 {{does not support a divisor of a sum that other ops read in chunks of rows yet}}
  %l, %lse, %n = weft.cross_entropy %x, %t {reduction = #weft.loss_reduction<sum>} : tensor<8x16xf32>, tensor<8xi32>
  weft.return %l, %n : tensor<f32>, tensor<f32>
}

// -----

weft.program @reshaped(%h: tensor<8x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<16xi32> {weft.input = "t"}) -> (tensor<f32> {weft.output = "l"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
  %y = weft.reshape %x : tensor<8x16xf32> to tensor<16x8xf32>
  // expected-error @+1 {{does not support logits whose rows are reshaped in chunks of rows yet}}
  %l, %lse, %n = weft.cross_entropy %y, %t : tensor<16x8xf32>, tensor<16xi32>
  weft.return %l : tensor<f32>
}

// -----

weft.program @reshaped_gradient(%h: tensor<8x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"}, %v: tensor<8x4xf32> {weft.input = "v"}) -> (tensor<16x4xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
  // expected-error @+1 {{does not support logits whose rows are reshaped in chunks of rows yet}}
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<8x16xf32>, tensor<8xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n : tensor<f32>, tensor<8x16xf32>, tensor<8xi32>, tensor<8xf32>
  %r = weft.reshape %d : tensor<8x16xf32> to tensor<16x8xf32>
  %dh = weft.matmul %r, %v : tensor<16x8xf32>, tensor<8x4xf32>
  weft.return %dh : tensor<16x4xf32>
}

// -----

weft.program @divided(%h: tensor<8x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"}) -> (tensor<8x4xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
  // expected-error @+1 {{does not support a divisor that depends on a loss in chunks of rows yet}}
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<8x16xf32>, tensor<8xi32>
  %z = weft.mul %l, %l : tensor<f32>, tensor<f32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %z : tensor<f32>, tensor<8x16xf32>, tensor<8xi32>, tensor<8xf32>
  %dh = weft.matmul %d, %w : tensor<8x16xf32>, tensor<16x4xf32>
  weft.return %dh : tensor<8x4xf32>
}

// -----

weft.program @targets(%h: tensor<8x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"}, %u: tensor<8xi32> {weft.input = "u"}) -> (tensor<8x4xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
  // expected-error @+1 {{does not support a gradient of another loss in chunks of rows yet}}
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<8x16xf32>, tensor<8xi32>
  %d = weft.cross_entropy_grad %g, %x, %u, %lse, %n : tensor<f32>, tensor<8x16xf32>, tensor<8xi32>, tensor<8xf32>
  %dh = weft.matmul %d, %w : tensor<8x16xf32>, tensor<16x4xf32>
  weft.return %dh : tensor<8x4xf32>
}

// -----

weft.program @weights(%h: tensor<8x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"}, %c: tensor<16xf32> {weft.input = "c"}) -> (tensor<f32> {weft.output = "l"}, tensor<f32> {weft.output = "m"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
  // expected-error @+1 {{does not support targets or weights that depend on a loss in chunks of rows yet}}
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<8x16xf32>, tensor<8xi32>
  %e = weft.mul %c, %l : tensor<16xf32>, tensor<f32>
  %m, %lse2, %n2 = weft.cross_entropy %x, %t weight %e : tensor<16xf32> : tensor<8x16xf32>, tensor<8xi32>
  weft.return %l, %m : tensor<f32>, tensor<f32>
}

// -----

weft.program @accuracy(%h: tensor<8x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"}) -> (tensor<8x4xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.matmul %h, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
  // expected-error @+1 {{does not support a gradient of the loss that is not known before it in chunks of rows yet}}
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<8x16xf32>, tensor<8xi32>
  %a = weft.accuracy %x, %t : tensor<8x16xf32>, tensor<8xi32>
  %d = weft.cross_entropy_grad %a, %x, %t, %lse, %n : tensor<f32>, tensor<8x16xf32>, tensor<8xi32>, tensor<8xf32>
  %dh = weft.matmul %d, %w : tensor<8x16xf32>, tensor<16x4xf32>
  weft.return %dh : tensor<8x4xf32>
}

// -----

weft.program @other_input(%h: tensor<8x4xf32> {weft.input = "h"}, %w: tensor<16x4xf32> {weft.input = "w"}, %t: tensor<8xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"}) -> (tensor<16x4xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.exp %h : tensor<8x4xf32>
  %x = weft.matmul %a, %w {transpose_rhs} : tensor<8x4xf32>, tensor<16x4xf32>
  // expected-error @+1 {{does not support a gradient of logits that other ops read in chunks of rows yet}}
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<8x16xf32>, tensor<8xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n : tensor<f32>, tensor<8x16xf32>, tensor<8xi32>, tensor<8xf32>
  %b = weft.log %h : tensor<8x4xf32>
  %dw = weft.matmul %d, %b {transpose_lhs} : tensor<8x16xf32>, tensor<8x4xf32>
  weft.return %dw : tensor<16x4xf32>
}
