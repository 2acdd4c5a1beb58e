// RUN: weft-opt %s --weft-mark-approximate | FileCheck %s
// Functions whose operands are computed from f16 or bf16 values and constants may
// be approximate.

// CHECK-LABEL: weft.program @silu(
// CHECK: weft.exp %{{.*}} {afn} : tensor<8xf32>
weft.program @silu(%x: tensor<8xbf16> {weft.input = "x"}) -> (tensor<8xbf16> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %one = weft.constant dense<1.0> : tensor<f32>
  %w = weft.cast %x : tensor<8xbf16> to tensor<8xf32>
  %n = weft.neg %w : tensor<8xf32>
  %e = weft.exp %n : tensor<8xf32>
  %d = weft.add %e, %one : tensor<8xf32>, tensor<f32>
  %y = weft.div %w, %d : tensor<8xf32>, tensor<8xf32>
  %r = weft.cast %y : tensor<8xf32> to tensor<8xbf16>
  weft.return %r : tensor<8xbf16>
}

// Through reductions and moved elements; a mask only chooses.
// CHECK-LABEL: weft.program @softmax(
// CHECK: weft.exp %{{.*}} {afn} : tensor<4x8xf32>
// CHECK: weft.exp %{{.*}} {afn} : tensor<4x8xf32>
weft.program @softmax(%x: tensor<4x8xf16> {weft.input = "x"}, %m: tensor<4x8xi1> {weft.input = "m"}) -> (tensor<4x8xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %low = weft.constant dense<0xFF800000> : tensor<f32>
  %w = weft.cast %x : tensor<4x8xf16> to tensor<4x8xf32>
  %v = weft.select %m, %w, %low : tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>
  %max = weft.reduce max %v dims [1] {keep_dims} : tensor<4x8xf32>
  %b = weft.broadcast %max : tensor<4x1xf32> to tensor<4x8xf32>
  %d = weft.sub %v, %b : tensor<4x8xf32>, tensor<4x8xf32>
  %e = weft.exp %d : tensor<4x8xf32>
  %sum = weft.reduce sum %e dims [1] {keep_dims} : tensor<4x8xf32>
  %l = weft.log %sum : tensor<4x1xf32>
  %c = weft.sub %d, %l : tensor<4x8xf32>, tensor<4x1xf32>
  %y = weft.exp %c : tensor<4x8xf32>
  weft.return %y : tensor<4x8xf32>
}

// Operands of a low type, a function of a function, and a rounded parameter.
// CHECK-LABEL: weft.program @low(
// CHECK: weft.tanh %{{.*}} {afn} : tensor<8xf16>
// CHECK: weft.exp %{{.*}} {afn} : tensor<8xf32>
// CHECK: weft.tanh %{{.*}} {afn} : tensor<8xf32>
// CHECK: weft.tanh %{{.*}} {afn} : tensor<8xf32>
weft.program @low(%x: tensor<8xf16> {weft.input = "x"}, %p: tensor<8xf32> {weft.input = "p"}) -> (tensor<8xf32> {weft.output = "y"}, tensor<8xf32> {weft.output = "z"}) attributes {kind = #weft.kind<eval>} {
  %t = weft.tanh %x : tensor<8xf16>
  %w = weft.cast %t : tensor<8xf16> to tensor<8xf32>
  %e = weft.exp %w : tensor<8xf32>
  %y = weft.tanh %e : tensor<8xf32>
  %q = weft.cast %p : tensor<8xf32> to tensor<8xbf16>
  %r = weft.cast %q : tensor<8xbf16> to tensor<8xf32>
  %z = weft.tanh %r : tensor<8xf32>
  weft.return %y, %z : tensor<8xf32>, tensor<8xf32>
}

// Not: an f32 or f64 operand, a sum with one, constants alone, an integer.
// CHECK-LABEL: weft.program @exact(
// CHECK-NOT: afn
weft.program @exact(%x: tensor<8xf16> {weft.input = "x"}, %p: tensor<8xf32> {weft.input = "p"}, %d: tensor<8xf64> {weft.input = "d"}, %i: tensor<8xi32> {weft.input = "i"}) -> (tensor<8xf32> {weft.output = "a"}, tensor<8xf32> {weft.output = "b"}, tensor<8xf64> {weft.output = "c"}, tensor<8xf64> {weft.output = "e"}, tensor<f32> {weft.output = "f"}, tensor<8xf32> {weft.output = "g"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.exp %p : tensor<8xf32>
  %w = weft.cast %x : tensor<8xf16> to tensor<8xf32>
  %s = weft.add %w, %p : tensor<8xf32>, tensor<8xf32>
  %b = weft.tanh %s : tensor<8xf32>
  %c = weft.exp %d : tensor<8xf64>
  %v = weft.cast %x : tensor<8xf16> to tensor<8xf64>
  %e = weft.exp %v : tensor<8xf64>
  %two = weft.constant dense<2.0> : tensor<f32>
  %f = weft.exp %two : tensor<f32>
  %j = weft.cast %i : tensor<8xi32> to tensor<8xf32>
  %k = weft.mul %j, %w : tensor<8xf32>, tensor<8xf32>
  %l = weft.add %i, %i : tensor<8xi32>, tensor<8xi32>
  %n = weft.cast %l : tensor<8xi32> to tensor<8xf32>
  %o = weft.mul %n, %w : tensor<8xf32>, tensor<8xf32>
  %h = weft.exp %o : tensor<8xf32>
  %q = weft.exp %k : tensor<8xf32>
  %g = weft.add %h, %q : tensor<8xf32>, tensor<8xf32>
  weft.return %a, %b, %c, %e, %f, %g : tensor<8xf32>, tensor<8xf32>, tensor<8xf64>, tensor<8xf64>, tensor<f32>, tensor<8xf32>
}
