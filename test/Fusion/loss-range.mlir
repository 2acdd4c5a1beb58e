// RUN: weft-opt %s --weft-decompose -o %t.mlir
// RUN: weft-interp %t.mlir | FileCheck %s
// RUN: weft-interp %s | FileCheck %s
// A target that is no class makes the loss and its row of the gradient NaN; in a
// row that is ignored, nothing does.

// CHECK: d = {{\[\[}}-0.25, 0.25], [nan, nan], [0, 0]] : 3x2xf32
// CHECK-NEXT: denom = 2 : f32
// CHECK-NEXT: loss = nan : f32
weft.program @range() -> (tensor<f32> {weft.output = "loss"}, tensor<f32> {weft.output = "denom"}, tensor<3x2xf32> {weft.output = "d"})
    attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[1.0, 1.0], [0.5, 2.0], [0.0, 0x7FC00000]]> : tensor<3x2xf32>
  %t = weft.constant dense<[0, 2, -1]> : tensor<3xi32>
  %g = weft.constant dense<1.0> : tensor<f32>
  %l, %lse, %n = weft.cross_entropy %x, %t {ignore_index = -1} : tensor<3x2xf32>, tensor<3xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n {ignore_index = -1} : tensor<f32>, tensor<3x2xf32>, tensor<3xi32>, tensor<3xf32>
  weft.return %l, %n, %d : tensor<f32>, tensor<f32>, tensor<3x2xf32>
}
