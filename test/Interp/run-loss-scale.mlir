// RUN: weft-opt %s --weft-derive-programs --weft-autodiff -o %t.grad.mlir
// RUN: weft-opt %t.grad.mlir --weft-loss-scale=scaler=torch,init=4,interval=1 --weft-expand-optimizer=optimizer=sgd -o %t.scaled.mlir
// RUN: weft-interp %t.scaled.mlir --mode=f32 --steps=3 --set lr=1 --set momentum=0 --set weight_decay=0 --set max_norm=0 --save-state=%t.state | FileCheck %s
// RUN: weft-interp %t.scaled.mlir --mode=f32 --steps=1 --state=%t.state --set lr=1 --set momentum=0 --set weight_decay=0 --set max_norm=0 --set x=inf --save-state=%t.skipped | FileCheck %s --check-prefix=SKIP
// RUN: weft-interp %t.scaled.mlir --mode=f32 --steps=1 --state=%t.skipped --set lr=1 --set momentum=0 --set weight_decay=0 --set max_norm=0 | FileCheck %s --check-prefix=AFTER

// A gradient is divided by the scale that the loss was multiplied by, also in
// the step that makes the scale grow: w = 10, 9, 8, 7 with a gradient of 1. A
// step with a gradient that is not finite changes the scale and nothing else.

// CHECK: loss = 10 : f32
// CHECK: grad_norm = 1 : f64
// CHECK: loss_scale = 4 : f32
// CHECK: loss = 9 : f32
// CHECK: grad_norm = 1 : f64
// CHECK: loss_scale = 8 : f32
// CHECK: loss = 8 : f32
// CHECK: grad_norm = 1 : f64
// CHECK: loss_scale = 16 : f32
// SKIP: found_inf = 1 : i1
// SKIP: loss_scale = 32 : f32
// AFTER: loss = 7 : f32
// AFTER: found_inf = 0 : i1
// AFTER: loss_scale = 16 : f32
weft.param @w : tensor<f32> {init = #weft.init<constant, 10.0>}
weft.program @model(%x: tensor<f32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "loss"})
    attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  // e^(0 x) is 1 for a finite x and NaN for an infinity.
  %zero = weft.constant dense<0.0> : tensor<f32>
  %none = weft.mul %x, %zero : tensor<f32>, tensor<f32>
  %one = weft.exp %none : tensor<f32>
  %y = weft.mul %w, %one : tensor<f32>, tensor<f32>
  weft.return %y : tensor<f32>
}
