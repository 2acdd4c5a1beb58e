// RUN: split-file %s %t
// RUN: weft-interp --compare %t/a.mlir %t/a.mlir --tolerance=0 | FileCheck %s --check-prefix=SAME
// RUN: weft-interp --compare %t/a.mlir %t/reordered.mlir | FileCheck %s --check-prefix=SAME
// RUN: not weft-interp --compare %t/a.mlir %t/reordered.mlir --tolerance=0 | FileCheck %s --check-prefix=EXACT
// RUN: weft-interp --compare %t/a.mlir %t/reordered.mlir --tolerance=0 --set x=0 | FileCheck %s --check-prefix=SAME
// RUN: not weft-interp --compare %t/a.mlir %t/wrong.mlir | FileCheck %s --check-prefix=WRONG
// RUN: not weft-interp --compare %t/a.mlir %t/wrong.mlir --mode=f32 | FileCheck %s --check-prefix=WRONG
// RUN: weft-interp --compare %t/a.mlir %t/wrong.mlir --tolerance=2 | FileCheck %s --check-prefix=LOOSE
// RUN: weft-interp --compare %t/a.mlir %t/programs.mlir | FileCheck %s --check-prefix=DERIVED
// RUN: not weft-interp --compare %t/a.mlir %t/empty.mlir | FileCheck %s --check-prefix=NOTHING
// RUN: not weft-interp --compare %t/a.mlir %t/shape.mlir | FileCheck %s --check-prefix=SHAPE

// Two modules get the same inputs and states; outputs and states are compared.

// SAME: model: 0 of 3 tensors differ; largest difference {{[0-9.e+-]+}} in {{.*}}
// EXACT: differs: model y max abs {{.*}}e-1{{[4-7]}}, max rel
// WRONG: differs: model @w max abs 1.000e+00, max rel
// WRONG: model: 1 of 3 tensors differ; largest difference 1.000e+00 in @w
// LOOSE: model: 0 of 3 tensors differ; largest difference 1.000e+00 in @w
// DERIVED: micro: 0 of 3 tensors differ
// DERIVED: note: program '@apply' is only in the second module
// NOTHING: note: program '@model' is only in the first module
// NOTHING: nothing to compare
// SHAPE: differs: model sum max abs inf, max rel inf

//--- a.mlir
weft.param @w : tensor<3xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "sum"}, tensor<4x3xf32> {weft.output = "y"})
    attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<3xf32>
  %t = weft.constant dense<0.3> : tensor<f32>
  %a = weft.div %x, %w : tensor<4x3xf32>, tensor<3xf32>
  %y = weft.div %a, %t : tensor<4x3xf32>, tensor<f32>
  %sum = weft.reduce sum %y dims [0, 1] : tensor<4x3xf32>
  weft.return %sum, %y : tensor<f32>, tensor<4x3xf32> writes @w = %w : tensor<3xf32>
}

//--- reordered.mlir
weft.param @w : tensor<3xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "sum"}, tensor<4x3xf32> {weft.output = "y"})
    attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<3xf32>
  %t = weft.constant dense<0.3> : tensor<f32>
  %a = weft.mul %w, %t : tensor<3xf32>, tensor<f32>
  %y = weft.div %x, %a : tensor<4x3xf32>, tensor<3xf32>
  %sum = weft.reduce sum %y dims [0, 1] : tensor<4x3xf32>
  weft.return %sum, %y : tensor<f32>, tensor<4x3xf32>
}

//--- wrong.mlir
weft.param @w : tensor<3xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "sum"}, tensor<4x3xf32> {weft.output = "y"})
    attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<3xf32>
  %t = weft.constant dense<0.3> : tensor<f32>
  %one = weft.constant dense<1.0> : tensor<f32>
  %a = weft.div %x, %w : tensor<4x3xf32>, tensor<3xf32>
  %y = weft.div %a, %t : tensor<4x3xf32>, tensor<f32>
  %sum = weft.reduce sum %y dims [0, 1] : tensor<4x3xf32>
  %new = weft.add %w, %one : tensor<3xf32>, tensor<f32>
  weft.return %sum, %y : tensor<f32>, tensor<4x3xf32> writes @w = %new : tensor<3xf32>
}

//--- programs.mlir
weft.param @w : tensor<3xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.program @micro(%x: tensor<4x3xf32> {weft.input = "x"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<f32> {weft.output = "sum"}, tensor<4x3xf32> {weft.output = "y"})
    attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<3xf32>
  %t = weft.constant dense<0.3> : tensor<f32>
  %a = weft.div %x, %w : tensor<4x3xf32>, tensor<3xf32>
  %y = weft.div %a, %t : tensor<4x3xf32>, tensor<f32>
  %sum = weft.reduce sum %y dims [0, 1] : tensor<4x3xf32>
  weft.return %sum, %y : tensor<f32>, tensor<4x3xf32>
}
weft.program @apply() attributes {kind = #weft.kind<apply>} {
  weft.return
}

//--- empty.mlir
module {
}

//--- shape.mlir
weft.param @w : tensor<3xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"})
    -> (tensor<3xf32> {weft.output = "sum"})
    attributes {kind = #weft.kind<model>} {
  %sum = weft.reduce sum %x dims [0] : tensor<4x3xf32>
  weft.return %sum : tensor<3xf32>
}
