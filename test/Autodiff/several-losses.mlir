// RUN: weft-opt %s --weft-derive-programs --weft-autodiff -o %t.mlir
// RUN: weft-interp %t.mlir --program=micro --set x=2 | FileCheck %s
// RUN: weft-interp %t.mlir --program=eval --set x=2 | FileCheck %s --check-prefix=EVAL

// The gradient of the weighted sum: 0.5 x / 4 + 0.25 (2 w).

// CHECK: loss = 2 : f32
// CHECK-NEXT: penalty = 4 : f32
// CHECK-NEXT: task = 2 : f32
// CHECK-NEXT: @w.grad = [0.75, 0.75, 0.75, 0.75] : 4xf32
// EVAL: loss = 2 : f32
// EVAL-NEXT: penalty = 4 : f32
// EVAL-NEXT: task = 2 : f32
weft.param @w : tensor<4xf32> {init = #weft.init<ones>}
weft.program @model(%x: tensor<4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "task", weft.loss = 0.5 : f64},
        tensor<f32> {weft.output = "penalty", weft.loss = 0.25 : f64})
    attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4xf32>
  %y = weft.mul %x, %w : tensor<4xf32>, tensor<4xf32>
  %task = weft.reduce mean %y dims [0] : tensor<4xf32>
  %square = weft.mul %w, %w : tensor<4xf32>, tensor<4xf32>
  %penalty = weft.reduce sum %square dims [0] : tensor<4xf32>
  weft.return %task, %penalty : tensor<f32>, tensor<f32>
}
