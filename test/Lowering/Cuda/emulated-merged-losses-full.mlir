// REQUIRES: full
// RUN: rm -rf %t && mkdir -p %t
// RUN: weft-opt %s --weft-merge-losses -o %t/merged.mlir
// RUN: %python %S/Inputs/emulate.py %t/merged.mlir %t/run 1 | FileCheck %s
// Rows of a large vocabulary, also of so many steps that sums are f64.

// CHECK-COUNT-5: {{^k_.*: equal$}}
// CHECK-NEXT: {{^9 results of 5 kernels as the interpreter computes them$}}
// CHECK-NOT: {{.}}
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.program @odd(%x: tensor<16x50257xf16> {weft.input = "x"}, %t: tensor<16xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"})
    -> (tensor<f32> {weft.output = "l"}, tensor<16x50257xf16> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<16x50257xf16>, tensor<16xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n : tensor<f32>, tensor<16x50257xf16>, tensor<16xi32>, tensor<16xf32>
  weft.return %l, %d : tensor<f32>, tensor<16x50257xf16>
}
weft.program @many(%x: tensor<16x140003xf32> {weft.input = "x"}, %t: tensor<16xi64> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"})
    -> (tensor<f32> {weft.output = "l"}, tensor<16x140003xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %l, %lse, %n = weft.cross_entropy %x, %t : tensor<16x140003xf32>, tensor<16xi64>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n : tensor<f32>, tensor<16x140003xf32>, tensor<16xi64>, tensor<16xf32>
  weft.return %l, %d : tensor<f32>, tensor<16x140003xf32>
}
}
