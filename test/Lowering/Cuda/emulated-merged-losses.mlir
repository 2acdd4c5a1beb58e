// RUN: rm -rf %t && mkdir -p %t
// RUN: weft-opt %s --weft-merge-losses -o %t/merged.mlir
// RUN: %python %S/Inputs/emulate.py %t/merged.mlir %t/run 1 | FileCheck %s
// A cross-entropy and its gradient as one kernel of a device: rows with and
// without a chunk that is not whole, ignored targets, and rows of one warp. Also
// losses of f32 and bf16 logits that are large or the least numbers.

// CHECK-COUNT-15: {{^k_.*: equal$}}
// CHECK-NEXT: {{^20 results of 15 kernels as the interpreter computes them$}}
// CHECK-NOT: {{.}}
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.program @odd(%x: tensor<16x5003xf16> {weft.input = "x"}, %t: tensor<16xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"})
    -> (tensor<f32> {weft.output = "l"}, tensor<16x5003xf16> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<16x5003xf16>, tensor<16xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n : tensor<f32>, tensor<16x5003xf16>, tensor<16xi32>, tensor<16xf32>
  weft.return %l, %d : tensor<f32>, tensor<16x5003xf16>
}
weft.program @even(%x: tensor<17x2048xbf16> {weft.input = "x"}, %t: tensor<17xi64> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"})
    -> (tensor<f32> {weft.output = "l"}, tensor<17x2048xbf16> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %l, %lse, %n = weft.cross_entropy %x, %t {ignore_index = 3, reduction = #weft.loss_reduction<sum>} : tensor<17x2048xbf16>, tensor<17xi64>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n {ignore_index = 3, reduction = #weft.loss_reduction<sum>} : tensor<f32>, tensor<17x2048xbf16>, tensor<17xi64>, tensor<17xf32>
  weft.return %l, %d : tensor<f32>, tensor<17x2048xbf16>
}
weft.program @warp(%x: tensor<20x1003xf16> {weft.input = "x"}, %t: tensor<20xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"})
    -> (tensor<f32> {weft.output = "l"}, tensor<20x1003xf16> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<20x1003xf16>, tensor<20xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n : tensor<f32>, tensor<20x1003xf16>, tensor<20xi32>, tensor<20xf32>
  weft.return %l, %d : tensor<f32>, tensor<20x1003xf16>
}
weft.program @forward(%x: tensor<18x1601xbf16> {weft.input = "x"}, %t: tensor<18xi32> {weft.input = "t"})
    -> (tensor<f32> {weft.output = "l"}) attributes {kind = #weft.kind<eval>} {
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<18x1601xbf16>, tensor<18xi32>
  weft.return %l : tensor<f32>
}
weft.program @large(%x: tensor<16x2048xf32> {weft.input = "x"}, %t: tensor<16xi32> {weft.input = "t"})
    -> (tensor<f32> {weft.output = "l"}) attributes {kind = #weft.kind<eval>} {
  %c = weft.constant dense<1.0e4> : tensor<f32>
  %y = weft.add %x, %c : tensor<16x2048xf32>, tensor<f32>
  %l, %lse, %n = weft.cross_entropy %y, %t : tensor<16x2048xf32>, tensor<16xi32>
  weft.return %l : tensor<f32>
}
weft.program @least(%x: tensor<16x2048xf32> {weft.input = "x"}, %t: tensor<16xi32> {weft.input = "t"})
    -> (tensor<f32> {weft.output = "l"}) attributes {kind = #weft.kind<eval>} {
  %c = weft.constant dense<-3.40282347E+38> : tensor<f32>
  %y = weft.add %x, %c : tensor<16x2048xf32>, tensor<f32>
  %l, %lse, %n = weft.cross_entropy %y, %t : tensor<16x2048xf32>, tensor<16xi32>
  weft.return %l : tensor<f32>
}
weft.program @large_bf16(%x: tensor<16x2048xbf16> {weft.input = "x"}, %t: tensor<16xi32> {weft.input = "t"})
    -> (tensor<f32> {weft.output = "l"}) attributes {kind = #weft.kind<eval>} {
  %c = weft.constant dense<1.0e8> : tensor<bf16>
  %y = weft.add %x, %c : tensor<16x2048xbf16>, tensor<bf16>
  %l, %lse, %n = weft.cross_entropy %y, %t : tensor<16x2048xbf16>, tensor<16xi32>
  weft.return %l : tensor<f32>
}
weft.program @least_bf16(%x: tensor<16x2048xbf16> {weft.input = "x"}, %t: tensor<16xi32> {weft.input = "t"})
    -> (tensor<f32> {weft.output = "l"}) attributes {kind = #weft.kind<eval>} {
  %c = weft.constant dense<-3.38953139E+38> : tensor<bf16>
  %y = weft.add %x, %c : tensor<16x2048xbf16>, tensor<bf16>
  %l, %lse, %n = weft.cross_entropy %y, %t : tensor<16x2048xbf16>, tensor<16xi32>
  weft.return %l : tensor<f32>
}
}
