// RUN: weft-opt --weft-decompose --weft-fuse %s | FileCheck %s
// RUN: weft-opt --weft-decompose --weft-fuse %s -o %t.mlir
// RUN: weft-interp --compare %s %t.mlir --tolerance=0 | FileCheck %s --check-prefix=EQUAL

// Canonical forms keep the written elements.
// RUN: weft-opt --weft-decompose --weft-fuse --canonicalize %s -o %t.canonical.mlir
// RUN: FileCheck %s --input-file=%t.canonical.mlir
// RUN: weft-interp --compare %s %t.canonical.mlir --tolerance=0 | FileCheck %s --check-prefix=EQUAL

// A kernel reads through a broadcast, not through a reshape of one: somebody
// writes its elements then. No broadcast is left to the program.
// EQUAL: channels: 0 of {{[1-9]}} tensors differ
// EQUAL: bias: 0 of {{[1-9]}} tensors differ
// EQUAL: twice: 0 of {{[1-9]}} tensors differ

// A gain per channel, repeated over pixels: the copy is part of the kernel that
// reads it under the other shape.
// CHECK-LABEL: weft.program @channels
// CHECK-NEXT: weft.call @[[GAIN:k_[0-9a-f]*]](%{{.*}}, %{{.*}}) : (tensor<2xf32>, tensor<6xf32>) -> tensor<6xf32>
// CHECK-NEXT: weft.return
weft.program @channels(%x: tensor<2xf32> {weft.input = "x"}, %w: tensor<6xf32> {weft.input = "w"})
    -> (tensor<6xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %b = weft.broadcast %x : tensor<2xf32> to tensor<3x2xf32>
  %r = weft.reshape %b : tensor<3x2xf32> to tensor<6xf32>
  %y = weft.mul %w, %r : tensor<6xf32>, tensor<6xf32>
  weft.return %y : tensor<6xf32>
}

// The gradient of a bias over a batch of one: the seed, repeated, without the row.
// CHECK-LABEL: weft.program @bias
// CHECK-NOT: weft.broadcast
// CHECK: weft.return
weft.program @bias(%seed: tensor<f32> {weft.input = "seed"}, %old: tensor<4xf32> {weft.input = "old"})
    -> (tensor<4xf32> {weft.output = "new"}) attributes {kind = #weft.kind<eval>} {
  %b = weft.broadcast %seed : tensor<f32> to tensor<1x4xf32>
  %g = weft.reduce sum %b dims [0] : tensor<1x4xf32>
  %new = weft.add %old, %g : tensor<4xf32>, tensor<4xf32>
  weft.return %new : tensor<4xf32>
}

// An op that reads a view and a view of that view.
// CHECK-LABEL: weft.program @twice
// CHECK-NEXT: weft.call @{{k_[0-9a-f]*}}(%{{.*}}) : (tensor<2x4xf32>) -> tensor<3x2x3xf32>
// CHECK-NEXT: weft.return
weft.program @twice(%x: tensor<2x4xf32> {weft.input = "x"})
    -> (tensor<3x2x3xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.slice %x offsets [0, 1] sizes [2, 3] strides [1, 1] : tensor<2x4xf32>
  %b = weft.broadcast %s : tensor<2x3xf32> to tensor<3x2x3xf32>
  %y = weft.mul %s, %b : tensor<2x3xf32>, tensor<3x2x3xf32>
  weft.return %y : tensor<3x2x3xf32>
}

// A slice whose elements lie one after the other is a buffer of its own: what
// else the operand holds does not concern the kernel.
// CHECK-LABEL: weft.program @dense
// CHECK-NEXT: %[[S:.*]] = weft.slice
// CHECK-NEXT: weft.call @{{k_[0-9a-f]*}}(%[[S]]) : (tensor<1x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: weft.return
weft.program @dense(%x: tensor<2x4xf32> {weft.input = "x"})
    -> (tensor<1x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.slice %x offsets [1, 0] sizes [1, 4] strides [1, 1] : tensor<2x4xf32>
  %y = weft.mul %s, %s : tensor<1x4xf32>, tensor<1x4xf32>
  weft.return %y : tensor<1x4xf32>
}

// CHECK: weft.kernel @[[GAIN]]
// CHECK: weft.broadcast
// CHECK-NEXT: weft.materialize
// CHECK-NEXT: weft.reshape
// CHECK-NEXT: weft.mul
