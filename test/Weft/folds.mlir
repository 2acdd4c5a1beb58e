// RUN: weft-opt %s --canonicalize | FileCheck %s
// Folds keep every bit: what would change a NaN, a signed zero or a rounding
// stays.

// CHECK-LABEL: weft.program @folded
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>
weft.program @folded(%x: tensor<8x4xf32> {weft.input = "x"})
    -> (tensor<8x4xf32> {weft.output = "a"}, tensor<8x4xf32> {weft.output = "b"},
        tensor<8x4xf32> {weft.output = "c"}, tensor<8x4xf32> {weft.output = "d"},
        tensor<8x4xf32> {weft.output = "e"}, tensor<8x4xf32> {weft.output = "f"},
        tensor<8x4xf32> {weft.output = "g"}, tensor<8x4xf32> {weft.output = "h"},
        tensor<8x4xf32> {weft.output = "i"}, tensor<8x4xf32> {weft.output = "j"},
        tensor<8x4xf32> {weft.output = "k"}, tensor<8x4xf32> {weft.output = "l"})
    attributes {kind = #weft.kind<model>} {
  %one = weft.constant dense<1.0> : tensor<f32>
  %zero = weft.constant dense<0.0> : tensor<4xf32>
  %minusZero = weft.constant dense<-0.0> : tensor<f32>
  // x * 1, 1 * x, x / 1, x - 0 and x + -0 are x for every x.
  %a = weft.mul %x, %one : tensor<8x4xf32>, tensor<f32>
  %b = weft.mul %one, %x : tensor<f32>, tensor<8x4xf32>
  %c = weft.div %x, %one : tensor<8x4xf32>, tensor<f32>
  %d = weft.sub %x, %zero : tensor<8x4xf32>, tensor<4xf32>
  %e = weft.add %x, %minusZero : tensor<8x4xf32>, tensor<f32>
  %n = weft.neg %x : tensor<8x4xf32>
  %f = weft.neg %n : tensor<8x4xf32>
  %g = weft.cast %x : tensor<8x4xf32> to tensor<8x4xf32>
  %h = weft.broadcast %x : tensor<8x4xf32> to tensor<8x4xf32>
  %r = weft.reshape %x : tensor<8x4xf32> to tensor<32xf32>
  %i = weft.reshape %r : tensor<32xf32> to tensor<8x4xf32>
  %j = weft.transpose %x [0, 1] : tensor<8x4xf32>
  %k = weft.slice %x offsets [0, 0] sizes [8, 4] strides [1, 1] : tensor<8x4xf32>
  %l = weft.concat %x {dim = 0 : i64} : tensor<8x4xf32>
  // CHECK-NEXT: weft.return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]] :
  weft.return %a, %b, %c, %d, %e, %f, %g, %h, %i, %j, %k, %l
      : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>,
        tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>,
        tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// CHECK-LABEL: weft.program @kept
weft.program @kept(%x: tensor<4xf32> {weft.input = "x"}, %m: tensor<1x4xf32> {weft.input = "m"},
                   %i: tensor<4xi32> {weft.input = "i"})
    -> (tensor<4xf32> {weft.output = "a"}, tensor<4xf32> {weft.output = "b"},
        tensor<4xf32> {weft.output = "c"}, tensor<4xf32> {weft.output = "d"},
        tensor<4xf32> {weft.output = "e"}, tensor<1x4xf32> {weft.output = "g"}, tensor<4xf32> {weft.output = "h"},
        tensor<4xi32> {weft.output = "i"}, tensor<4xf32> {weft.output = "k"})
    attributes {kind = #weft.kind<model>} {
  %one = weft.constant dense<1.0> : tensor<1x1xf32>
  %zero = weft.constant dense<0.0> : tensor<f32>
  %minusZero = weft.constant dense<-0.0> : tensor<f32>
  %izero = weft.constant dense<0> : tensor<i32>
  // -0 + 0 is 0, and -0 - -0 is 0.
  // CHECK: weft.add
  %a = weft.add %x, %zero : tensor<4xf32>, tensor<f32>
  // CHECK: weft.sub
  %b = weft.sub %x, %minusZero : tensor<4xf32>, tensor<f32>
  // NaN * 0 is NaN.
  // CHECK: weft.mul
  %c = weft.mul %x, %zero : tensor<4xf32>, tensor<f32>
  // Inf - Inf is NaN.
  // CHECK: weft.sub
  %d = weft.sub %x, %x : tensor<4xf32>, tensor<4xf32>
  // The pair rounds to f16.
  // CHECK: weft.cast {{.*}} to tensor<4xf16>
  // CHECK: weft.cast {{.*}} to tensor<4xf32>
  %half = weft.cast %x : tensor<4xf32> to tensor<4xf16>
  %e = weft.cast %half : tensor<4xf16> to tensor<4xf32>
  // Elements in memory of their own are there to stay.
  // CHECK: weft.materialize
  %k = weft.materialize %x : tensor<4xf32>
  // The result has another shape than the operand.
  // CHECK: weft.mul
  %y = weft.reshape %m : tensor<1x4xf32> to tensor<4xf32>
  %g = weft.mul %y, %one : tensor<4xf32>, tensor<1x1xf32>
  // exp(log(x)) rounds twice.
  // CHECK: weft.log
  // CHECK: weft.exp
  %log = weft.log %x : tensor<4xf32>
  %h = weft.exp %log : tensor<4xf32>
  // No fold looks at integers.
  // CHECK: weft.add
  %j = weft.add %i, %izero : tensor<4xi32>, tensor<i32>
  weft.return %a, %b, %c, %d, %e, %g, %h, %j, %k
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
        tensor<1x4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>
}

// A chain of reshapes is one.
// CHECK-LABEL: weft.program @reshapes
// CHECK-NEXT: weft.reshape %{{.*}} : tensor<8x4xf32> to tensor<2x16xf32>
// CHECK-NEXT: weft.return
weft.program @reshapes(%x: tensor<8x4xf32> {weft.input = "x"})
    -> (tensor<2x16xf32> {weft.output = "y"}) attributes {kind = #weft.kind<model>} {
  %a = weft.reshape %x : tensor<8x4xf32> to tensor<32xf32>
  %b = weft.reshape %a : tensor<32xf32> to tensor<2x16xf32>
  weft.return %b : tensor<2x16xf32>
}
