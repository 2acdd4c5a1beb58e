// RUN: weft-opt --weft-decompose --weft-fuse %s | FileCheck %s
// RUN: weft-opt --weft-decompose --weft-fuse %s -o %t.mlir
// RUN: weft-interp --compare %s %t.mlir --tolerance=0 | FileCheck %s --check-prefix=EQUAL

// A routine needs the elements of a broadcast in memory: a kernel writes them,
// also where it reads them under another shape. Kernels read through it.
// EQUAL: eval: 0 of {{[1-9]}} tensors differ

weft.param @w : tensor<4xf32> {init = #weft.init<normal, 0.0, 1.0>}
// CHECK-LABEL: weft.program @eval
// CHECK: %[[W:.*]] = weft.read @w
// CHECK: %[[B:.*]] = weft.call @{{k_[0-9a-f]*}}(%[[W]]) : (tensor<4xf32>) -> tensor<4x4xf32>
// CHECK: weft.matmul %{{.*}}, %[[B]]
// CHECK: %[[S:.*]] = weft.reshape %[[B]]
// CHECK: weft.matmul %{{.*}}, %[[S]]
weft.program @eval(%x: tensor<4x4xf32> {weft.input = "x"}, %z: tensor<1x2xf32> {weft.input = "z"})
    -> (tensor<4x4xf32> {weft.output = "y"}, tensor<1x8xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %w = weft.read @w : tensor<4xf32>
  %b = weft.broadcast %w : tensor<4xf32> to tensor<4x4xf32>
  %y = weft.matmul %x, %b : tensor<4x4xf32>, tensor<4x4xf32>
  %a = weft.add %y, %b : tensor<4x4xf32>, tensor<4x4xf32>
  %r = weft.reshape %b : tensor<4x4xf32> to tensor<2x8xf32>
  %s = weft.matmul %z, %r : tensor<1x2xf32>, tensor<2x8xf32>
  weft.return %a, %s : tensor<4x4xf32>, tensor<1x8xf32>
}
