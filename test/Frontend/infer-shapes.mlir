// RUN: weft-opt %s --weft-infer-shapes | FileCheck %s

// Static shapes pass and nothing changes; scalars count as static.

// CHECK: weft.param @w : tensor<4xf32>
weft.param @w : tensor<4xf32>
// CHECK-LABEL: weft.program @model
weft.program @model(%x: tensor<2x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  // CHECK-NEXT: weft.read @w : tensor<4xf32>
  %w = weft.read @w : tensor<4xf32>
  // CHECK-NEXT: weft.mul
  %y = weft.mul %x, %w : tensor<2x4xf32>, tensor<4xf32>
  // CHECK-NEXT: weft.reduce
  %loss = weft.reduce sum %y dims [0, 1] : tensor<2x4xf32>
  weft.return %loss : tensor<f32>
}
