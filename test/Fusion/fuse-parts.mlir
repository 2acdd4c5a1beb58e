// RUN: weft-opt --weft-decompose --weft-fuse %s | FileCheck %s
// RUN: weft-opt --weft-decompose --weft-fuse %s -o %t.mlir
// RUN: weft-interp --compare %s %t.mlir --tolerance=0 | FileCheck %s --check-prefix=EQUAL

// Results that the kernel of a reduction cannot write get kernels of their own. All of
// them run at the place of the last op, in the order of their dependences.
// EQUAL: temperature: 0 of {{[1-9]}} tensors differ
// EQUAL: repeated: 0 of {{[1-9]}} tensors differ
// EQUAL: renamed: 0 of {{[1-9]}} tensors differ
// EQUAL: outer: 0 of {{[1-9]}} tensors differ

// A computed scalar that scales probabilities and stands in a penalty, which is
// written between the two.
// CHECK-LABEL: weft.program @temperature
// CHECK-NEXT: %[[S:.*]]:2 = weft.call @{{.*}}(%{{.*}}) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
// CHECK-NEXT: %[[M:.*]] = weft.call @{{.*}}(%{{.*}}, %[[S]]#0)
weft.program @temperature(%x: tensor<8x4xf32> {weft.input = "x"}, %t: tensor<f32> {weft.input = "t"})
    -> (tensor<f32> {weft.output = "a"}, tensor<f32> {weft.output = "b"}) attributes {kind = #weft.kind<eval>} {
  %p = weft.softmax %x {dim = 1} : tensor<8x4xf32>
  %s = weft.exp %t : tensor<f32>
  %d = weft.mul %p, %s : tensor<8x4xf32>, tensor<f32>
  %q = weft.mul %s, %t : tensor<f32>, tensor<f32>
  %m = weft.reduce mean %d dims [0, 1] : tensor<8x4xf32>
  weft.return %m, %q : tensor<f32>, tensor<f32>
}

// The scalar is also repeated for a product, which needs its elements.
// CHECK-LABEL: weft.program @repeated
// CHECK-NOT: weft.broadcast
// CHECK: weft.return
weft.program @repeated(%x: tensor<8x4xf32> {weft.input = "x"}, %t: tensor<f32> {weft.input = "t"})
    -> (tensor<8xf32> {weft.output = "a"}, tensor<f32> {weft.output = "b"}, tensor<8x8xf32> {weft.output = "c"}) attributes {kind = #weft.kind<eval>} {
  %e = weft.exp %x : tensor<8x4xf32>
  %s = weft.exp %t : tensor<f32>
  %r = weft.broadcast %s : tensor<f32> to tensor<8x4xf32>
  %d = weft.mul %e, %r : tensor<8x4xf32>, tensor<8x4xf32>
  %m = weft.reduce sum %d dims [1] : tensor<8x4xf32>
  %c = weft.matmul %x, %r {transpose_rhs} : tensor<8x4xf32>, tensor<8x4xf32>
  weft.return %m, %s, %c : tensor<8xf32>, tensor<f32>, tensor<8x8xf32>
}

// And under another shape.
// CHECK-LABEL: weft.program @renamed
// CHECK: weft.return
weft.program @renamed(%x: tensor<8x4xf32> {weft.input = "x"}, %t: tensor<f32> {weft.input = "t"})
    -> (tensor<8xf32> {weft.output = "a"}, tensor<1x1xf32> {weft.output = "b"}) attributes {kind = #weft.kind<eval>} {
  %e = weft.exp %x : tensor<8x4xf32>
  %s = weft.exp %t : tensor<f32>
  %r = weft.reshape %s : tensor<f32> to tensor<1x1xf32>
  %d = weft.mul %e, %r : tensor<8x4xf32>, tensor<1x1xf32>
  %m = weft.reduce sum %d dims [1] : tensor<8x4xf32>
  weft.return %m, %r : tensor<8xf32>, tensor<1x1xf32>
}

// The product of what rows give with its own transpose needs two rows for each
// element: no kernel of one row computes it.
// CHECK-LABEL: weft.program @outer
// CHECK-NEXT: %[[MOST:.*]] = weft.call @[[ROWS:.*]](%{{.*}}) : (tensor<3x5xf32>) -> tensor<3x1xf32>
// CHECK: weft.call @{{.*}} -> tensor<3x3xf32>
// CHECK: weft.kernel @[[ROWS]]
// CHECK-NOT: tensor<3x3xf32>
// CHECK: weft.yield
weft.program @outer(%x: tensor<3x5xf32> {weft.input = "x"}) -> (tensor<3x3xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %v = weft.mul %x, %x : tensor<3x5xf32>, tensor<3x5xf32>
  %m = weft.reduce max %v dims [1] {keep_dims} : tensor<3x5xf32>
  %t = weft.reshape %m : tensor<3x1xf32> to tensor<3xf32>
  %y = weft.mul %t, %m : tensor<3xf32>, tensor<3x1xf32>
  weft.return %y : tensor<3x3xf32>
}
