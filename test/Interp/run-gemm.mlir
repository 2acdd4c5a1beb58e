// RUN: split-file %s %t
// RUN: weft-interp --compare %t/gemm.mlir %t/ops.mlir --tolerance=1e-14 | FileCheck %s
// RUN: weft-interp --compare %t/gemm.mlir %t/ops.mlir --mode=f32 --tolerance=1e-6 | FileCheck %s
// RUN: weft-opt %t/gemm.mlir --weft-select-kernels=library=interpreter --weft-lower-to-plan -o %t/plan.mlir
// RUN: weft-interp --compare %t/gemm.mlir %t/plan.mlir --tolerance=0 | FileCheck %s
// RUN: weft-interp --compare %t/gemm.mlir %t/plan.mlir --mode=f32 --tolerance=0 | FileCheck %s

// A product with what stands around it is the separate ops, and its command.

// CHECK-DAG: plain: 0 of 2 tensors differ
// CHECK-DAG: gelu: 0 of 2 tensors differ
// CHECK-DAG: relu: 0 of 3 tensors differ
// CHECK-DAG: relu_only: 0 of 1 tensors differ
// CHECK-DAG: gelu_grad: 0 of 2 tensors differ
// CHECK-DAG: relu_grad: 0 of 1 tensors differ
// CHECK-DAG: factors: 0 of 3 tensors differ
// CHECK-DAG: transposed_factors: 0 of 3 tensors differ

//--- gemm.mlir
weft.program @plain(%x: tensor<4x3xf32> {weft.input = "x"}, %w: tensor<4x5xf32> {weft.input = "w"}, %b: tensor<5xf32> {weft.input = "b"})
    -> (tensor<3x5xf32> {weft.output = "y"}, tensor<5xf32> {weft.output = "columns"})
    attributes {kind = #weft.kind<eval>} {
  %y, %s = weft.gemm %x transposed * %w bias(%b : tensor<5xf32>) : tensor<4x3xf32> * tensor<4x5xf32> -> tensor<3x5xf32> column_sum(tensor<5xf32>)
  weft.return %y, %s : tensor<3x5xf32>, tensor<5xf32>
}

weft.program @gelu(%x: tensor<2x3x4xf32> {weft.input = "x"}, %w: tensor<5x4xf32> {weft.input = "w"}, %b: tensor<5xf32> {weft.input = "b"})
    -> (tensor<2x3x5xf32> {weft.output = "y"}, tensor<2x3x5xf32> {weft.output = "sum"})
    attributes {kind = #weft.kind<eval>} {
  %y, %s = weft.gemm %x * %w transposed bias(%b : tensor<5xf32>) epilogue gelu : tensor<2x3x4xf32> * tensor<5x4xf32> -> tensor<2x3x5xf32> sum(tensor<2x3x5xf32>)
  weft.return %y, %s : tensor<2x3x5xf32>, tensor<2x3x5xf32>
}

weft.program @relu(%x: tensor<3x4xf32> {weft.input = "x"}, %w: tensor<2x4x5xf32> {weft.input = "w"})
    -> (tensor<2x3x5xf32> {weft.output = "y"}, tensor<2x3x5xf32> {weft.output = "sum"}, tensor<5xf32> {weft.output = "columns"})
    attributes {kind = #weft.kind<eval>} {
  %y:3 = weft.gemm %x * %w epilogue relu : tensor<3x4xf32> * tensor<2x4x5xf32> -> tensor<2x3x5xf32> sum(tensor<2x3x5xf32>) column_sum(tensor<5xf32>)
  weft.return %y#0, %y#1, %y#2 : tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<5xf32>
}

weft.program @relu_only(%x: tensor<3x4xf32> {weft.input = "x"}, %w: tensor<4x5xf32> {weft.input = "w"})
    -> (tensor<3x5xf32> {weft.output = "y"})
    attributes {kind = #weft.kind<eval>} {
  %y = weft.gemm %x * %w epilogue relu : tensor<3x4xf32> * tensor<4x5xf32> -> tensor<3x5xf32>
  weft.return %y : tensor<3x5xf32>
}

weft.program @gelu_grad(%g: tensor<2x3x5xf32> {weft.input = "g"}, %w: tensor<5x4xf32> {weft.input = "w"}, %sum: tensor<2x3x4xf32> {weft.input = "sum"})
    -> (tensor<2x3x4xf32> {weft.output = "dx"}, tensor<4xf32> {weft.output = "db"})
    attributes {kind = #weft.kind<eval>} {
  %y, %s = weft.gemm %g * %w epilogue gelu_grad aux(%sum : tensor<2x3x4xf32>) : tensor<2x3x5xf32> * tensor<5x4xf32> -> tensor<2x3x4xf32> column_sum(tensor<4xf32>)
  weft.return %y, %s : tensor<2x3x4xf32>, tensor<4xf32>
}

weft.program @relu_grad(%g: tensor<2x3x5xf32> {weft.input = "g"}, %w: tensor<2x4x5xf32> {weft.input = "w"}, %sum: tensor<2x3x4xf32> {weft.input = "sum"})
    -> (tensor<2x3x4xf32> {weft.output = "dx"})
    attributes {kind = #weft.kind<eval>} {
  %y = weft.gemm %g * %w transposed epilogue relu_grad aux(%sum : tensor<2x3x4xf32>) : tensor<2x3x5xf32> * tensor<2x4x5xf32> -> tensor<2x3x4xf32>
  weft.return %y : tensor<2x3x4xf32>
}

weft.program @factors(%x: tensor<4x3xf32> {weft.input = "x"}, %g: tensor<4x5xf32> {weft.input = "g"})
    -> (tensor<3x5xf32> {weft.output = "dw"}, tensor<3xf32> {weft.output = "rows"}, tensor<5xf32> {weft.output = "columns"})
    attributes {kind = #weft.kind<eval>} {
  %y:3 = weft.gemm %x transposed * %g : tensor<4x3xf32> * tensor<4x5xf32> -> tensor<3x5xf32> lhs_sum(tensor<3xf32>) rhs_sum(tensor<5xf32>)
  weft.return %y#0, %y#1, %y#2 : tensor<3x5xf32>, tensor<3xf32>, tensor<5xf32>
}

weft.program @transposed_factors(%x: tensor<3x4xf32> {weft.input = "x"}, %g: tensor<5x4xf32> {weft.input = "g"})
    -> (tensor<3x5xf32> {weft.output = "dw"}, tensor<3xf32> {weft.output = "rows"}, tensor<5xf32> {weft.output = "columns"})
    attributes {kind = #weft.kind<eval>} {
  %y:3 = weft.gemm %x * %g transposed epilogue relu : tensor<3x4xf32> * tensor<5x4xf32> -> tensor<3x5xf32> lhs_sum(tensor<3xf32>) rhs_sum(tensor<5xf32>)
  weft.return %y#0, %y#1, %y#2 : tensor<3x5xf32>, tensor<3xf32>, tensor<5xf32>
}

//--- ops.mlir
weft.program @plain(%x: tensor<4x3xf32> {weft.input = "x"}, %w: tensor<4x5xf32> {weft.input = "w"}, %b: tensor<5xf32> {weft.input = "b"})
    -> (tensor<3x5xf32> {weft.output = "y"}, tensor<5xf32> {weft.output = "columns"})
    attributes {kind = #weft.kind<eval>} {
  %y = weft.matmul %x, %w bias %b : tensor<5xf32> {transpose_lhs} : tensor<4x3xf32>, tensor<4x5xf32>
  %s = weft.reduce sum %y dims [0] : tensor<3x5xf32>
  weft.return %y, %s : tensor<3x5xf32>, tensor<5xf32>
}

weft.program @gelu(%x: tensor<2x3x4xf32> {weft.input = "x"}, %w: tensor<5x4xf32> {weft.input = "w"}, %b: tensor<5xf32> {weft.input = "b"})
    -> (tensor<2x3x5xf32> {weft.output = "y"}, tensor<2x3x5xf32> {weft.output = "sum"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.matmul %x, %w {transpose_rhs} : tensor<2x3x4xf32>, tensor<5x4xf32>
  %s = weft.add %p, %b : tensor<2x3x5xf32>, tensor<5xf32>
  %y = weft.gelu %s {approximate = #weft.gelu_kind<tanh>} : tensor<2x3x5xf32>
  weft.return %y, %s : tensor<2x3x5xf32>, tensor<2x3x5xf32>
}

weft.program @relu(%x: tensor<3x4xf32> {weft.input = "x"}, %w: tensor<2x4x5xf32> {weft.input = "w"})
    -> (tensor<2x3x5xf32> {weft.output = "y"}, tensor<2x3x5xf32> {weft.output = "sum"}, tensor<5xf32> {weft.output = "columns"})
    attributes {kind = #weft.kind<eval>} {
  %s = weft.matmul %x, %w : tensor<3x4xf32>, tensor<2x4x5xf32>
  %y = weft.relu %s : tensor<2x3x5xf32>
  %c = weft.reduce sum %y dims [0, 1] : tensor<2x3x5xf32>
  weft.return %y, %s, %c : tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<5xf32>
}

weft.program @relu_only(%x: tensor<3x4xf32> {weft.input = "x"}, %w: tensor<4x5xf32> {weft.input = "w"})
    -> (tensor<3x5xf32> {weft.output = "y"})
    attributes {kind = #weft.kind<eval>} {
  %s = weft.matmul %x, %w : tensor<3x4xf32>, tensor<4x5xf32>
  %y = weft.relu %s : tensor<3x5xf32>
  weft.return %y : tensor<3x5xf32>
}

weft.program @gelu_grad(%g: tensor<2x3x5xf32> {weft.input = "g"}, %w: tensor<5x4xf32> {weft.input = "w"}, %sum: tensor<2x3x4xf32> {weft.input = "sum"})
    -> (tensor<2x3x4xf32> {weft.output = "dx"}, tensor<4xf32> {weft.output = "db"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.matmul %g, %w : tensor<2x3x5xf32>, tensor<5x4xf32>
  %y = weft.gelu_grad %p, %sum {approximate = #weft.gelu_kind<tanh>} : tensor<2x3x4xf32>
  %s = weft.reduce sum %y dims [0, 1] : tensor<2x3x4xf32>
  weft.return %y, %s : tensor<2x3x4xf32>, tensor<4xf32>
}

weft.program @relu_grad(%g: tensor<2x3x5xf32> {weft.input = "g"}, %w: tensor<2x4x5xf32> {weft.input = "w"}, %sum: tensor<2x3x4xf32> {weft.input = "sum"})
    -> (tensor<2x3x4xf32> {weft.output = "dx"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.matmul %g, %w {transpose_rhs} : tensor<2x3x5xf32>, tensor<2x4x5xf32>
  %y = weft.relu_grad %p, %sum : tensor<2x3x4xf32>
  weft.return %y : tensor<2x3x4xf32>
}

weft.program @factors(%x: tensor<4x3xf32> {weft.input = "x"}, %g: tensor<4x5xf32> {weft.input = "g"})
    -> (tensor<3x5xf32> {weft.output = "dw"}, tensor<3xf32> {weft.output = "rows"}, tensor<5xf32> {weft.output = "columns"})
    attributes {kind = #weft.kind<eval>} {
  %y = weft.matmul %x, %g {transpose_lhs} : tensor<4x3xf32>, tensor<4x5xf32>
  %r = weft.reduce sum %x dims [0] : tensor<4x3xf32>
  %c = weft.reduce sum %g dims [0] : tensor<4x5xf32>
  weft.return %y, %r, %c : tensor<3x5xf32>, tensor<3xf32>, tensor<5xf32>
}

weft.program @transposed_factors(%x: tensor<3x4xf32> {weft.input = "x"}, %g: tensor<5x4xf32> {weft.input = "g"})
    -> (tensor<3x5xf32> {weft.output = "dw"}, tensor<3xf32> {weft.output = "rows"}, tensor<5xf32> {weft.output = "columns"})
    attributes {kind = #weft.kind<eval>} {
  %p = weft.matmul %x, %g {transpose_rhs} : tensor<3x4xf32>, tensor<5x4xf32>
  %y = weft.relu %p : tensor<3x5xf32>
  %r = weft.reduce sum %x dims [1] : tensor<3x4xf32>
  %c = weft.reduce sum %g dims [1] : tensor<5x4xf32>
  weft.return %y, %r, %c : tensor<3x5xf32>, tensor<3xf32>, tensor<5xf32>
}
