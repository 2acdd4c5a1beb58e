// RUN: weft-opt %s --weft-tie-params | FileCheck %s

// A tied parameter disappears and its readers read the target, through a chain.

// CHECK: weft.param @wte : tensor<8x4xf32> {init = #weft.init<ones>}
weft.param @wte : tensor<8x4xf32> {init = #weft.init<ones>}
// CHECK-NOT: @lm_head
weft.param @lm_head : tensor<8x4xf32> {tie = @wte}
// CHECK-NOT: @other_head
weft.param @other_head : tensor<8x4xf32> {tie = @lm_head}
// CHECK: weft.param @free : tensor<4xf32>
weft.param @free : tensor<4xf32>

// CHECK-LABEL: weft.program @model
weft.program @model(%ids: tensor<2xi32> {weft.input = "ids"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  // CHECK: %[[TABLE:.*]] = weft.read @wte : tensor<8x4xf32>
  %table = weft.read @wte : tensor<8x4xf32>
  %x = weft.embedding %table, %ids : tensor<8x4xf32>, tensor<2xi32>
  // CHECK: weft.read @free
  %b = weft.read @free : tensor<4xf32>
  %y = weft.add %x, %b : tensor<2x4xf32>, tensor<4xf32>
  // CHECK: %[[HEAD:.*]] = weft.read @wte {weft.scope = "head"}
  %head = weft.read @other_head {weft.scope = "head"} : tensor<8x4xf32>
  // CHECK: weft.matmul %{{.*}}, %[[HEAD]]
  %z = weft.matmul %y, %head {transpose_rhs} : tensor<2x4xf32>, tensor<8x4xf32>
  %loss = weft.reduce sum %z dims [0, 1] : tensor<2x8xf32>
  weft.return %loss : tensor<f32>
}
