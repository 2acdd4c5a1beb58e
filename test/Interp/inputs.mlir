// RUN: weft-interp %s --program=known --inputs=random:7 | FileCheck %s
// RUN: weft-interp %s --program=choices --mode=f32 | FileCheck %s --check-prefix=CHOICES
// RUN: weft-interp %s --program=echo --inputs=random:5 --outputs=%t.echo > %t.made
// RUN: weft-interp %s --program=echo --inputs=%t.echo > %t.read
// RUN: diff %t.made %t.read
// RUN: weft-interp %s --program=echo > %t.other
// RUN: not diff %t.made %t.other
// RUN: weft-interp %s --program=echo --set x=1.5 --set n=3 | FileCheck %s --check-prefix=SET

// Inputs are made from a seed and the input's name, read from a file or set.

// CHECK: accumulate = 0 : f32
// CHECK-NEXT: loss_seed = 1 : f32
// CHECK-NEXT: lr = 0.001 : f64
// CHECK-NEXT: rng = [7, 0] : 2xi64
// CHECK-NEXT: seed = 7 : i64
weft.program @known(%a: tensor<f32> {weft.input = "accumulate"}, %b: tensor<f32> {weft.input = "loss_seed"},
                    %c: tensor<f64> {weft.input = "lr"}, %d: tensor<2xi64> {weft.input = "rng"},
                    %e: tensor<i64> {weft.input = "seed"})
    -> (tensor<f32> {weft.output = "accumulate"}, tensor<f32> {weft.output = "loss_seed"},
        tensor<f64> {weft.output = "lr"}, tensor<2xi64> {weft.output = "rng"}, tensor<i64> {weft.output = "seed"})
    attributes {kind = #weft.kind<eval>} {
  weft.return %a, %b, %c, %d, %e : tensor<f32>, tensor<f32>, tensor<f64>, tensor<2xi64>, tensor<i64>
}

// Ids stay inside of the table, targets inside of the classes; both ends occur.
// CHOICES: least_id = 0 : f32
// CHOICES-NEXT: least_target = 0 : f32
// CHOICES-NEXT: most_id = 4 : f32
// CHOICES-NEXT: most_target = 2 : f32
weft.program @choices(%i: tensor<8x16xi32> {weft.input = "tokens"}, %t: tensor<8x16xi32> {weft.input = "targets"})
    -> (tensor<f32> {weft.output = "least_id"}, tensor<f32> {weft.output = "most_id"},
        tensor<f32> {weft.output = "least_target"}, tensor<f32> {weft.output = "most_target"})
    attributes {kind = #weft.kind<eval>} {
  %flat = weft.reshape %i : tensor<8x16xi32> to tensor<128xi32>
  %table = weft.constant dense<0.0> : tensor<5x3xf32>
  %x = weft.embedding %table, %flat : tensor<5x3xf32>, tensor<128xi32>
  %ts = weft.reshape %t : tensor<8x16xi32> to tensor<128xi32>
  %loss, %lse, %denom = weft.cross_entropy %x, %ts : tensor<128x3xf32>, tensor<128xi32>
  %f = weft.cast %i : tensor<8x16xi32> to tensor<8x16xf32>
  %g = weft.cast %t : tensor<8x16xi32> to tensor<8x16xf32>
  %a = weft.reduce min %f dims [0, 1] : tensor<8x16xf32>
  %b = weft.reduce max %f dims [0, 1] : tensor<8x16xf32>
  %c = weft.reduce min %g dims [0, 1] : tensor<8x16xf32>
  %d = weft.reduce max %g dims [0, 1] : tensor<8x16xf32>
  weft.return %a, %b, %c, %d : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// SET: n = 3 : i32
// SET: x = [1.5, 1.5] : 2xf32
weft.program @echo(%x: tensor<2xf32> {weft.input = "x"}, %n: tensor<i32> {weft.input = "n"}, %h: tensor<3xbf16> {weft.input = "h"})
    -> (tensor<2xf32> {weft.output = "x"}, tensor<i32> {weft.output = "n"}, tensor<3xbf16> {weft.output = "h"})
    attributes {kind = #weft.kind<eval>} {
  weft.return %x, %n, %h : tensor<2xf32>, tensor<i32>, tensor<3xbf16>
}
