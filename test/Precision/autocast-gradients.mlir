// RUN: weft-opt %s --weft-autocast=dtype=f16 --weft-derive-programs --weft-autodiff -o %t.f16.mlir
// RUN: FileCheck %s --input-file=%t.f16.mlir
// RUN: weft-opt %s --weft-autocast --weft-derive-programs --weft-autodiff -o %t.f32.mlir
// RUN: weft-interp --compare %t.f32.mlir %t.f16.mlir --tolerance=1e-14 | FileCheck %s --check-prefix=EQUAL

// A weight used three times has one cast in the micro program; its gradient is
// f32 and the sum of the three uses. The frozen parameter is cast, and has no
// gradient.

// CHECK-LABEL: weft.program @micro
// CHECK-COUNT-1: tensor<4x3xf32> to tensor<4x3xf16>
// CHECK-NOT: tensor<4x3xf32> to tensor<4x3xf16>
// CHECK: weft.return {{.*}} writes @w.grad = %{{[^ ]*}} : tensor<4x3xf32>
// CHECK-NOT: @frozen.grad
// EQUAL: micro: 0 of {{[1-9]}} tensors differ
weft.param @w : tensor<4x3xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.param @frozen : tensor<3x3xf32> {init = #weft.init<normal, 0.0, 1.0>, trainable = false}
weft.program @model(%a: tensor<2x4xf32> {weft.input = "a"}, %b: tensor<2x4xf32> {weft.input = "b"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4x3xf32>
  %f = weft.read @frozen : tensor<3x3xf32>
  %x = weft.matmul %a, %w : tensor<2x4xf32>, tensor<4x3xf32>
  %y = weft.matmul %b, %w : tensor<2x4xf32>, tensor<4x3xf32>
  %s = weft.add %x, %y : tensor<2x3xf32>, tensor<2x3xf32>
  %g = weft.matmul %s, %f : tensor<2x3xf32>, tensor<3x3xf32>
  %z = weft.matmul %g, %w {transpose_rhs} : tensor<2x3xf32>, tensor<4x3xf32>
  %l = weft.mse %z, %a : tensor<2x4xf32>
  weft.return %l : tensor<f32>
}
