// RUN: weft-opt %s --weft-decompose --weft-fuse | FileCheck %s
// RUN: weft-opt %s --weft-decompose --weft-fuse | weft-opt --mlir-print-op-generic | weft-opt | FileCheck %s
// The facts that fusion records of a kernel: its space, the dimensions of a row or a column, and for each result the arguments whose buffer it may reuse.

// No sums: each result has an element for each point, and dimensions that all operands walk alike are one.
// CHECK-DAG: weft.kernel @{{.*}}(%{{.*}}: tensor<8x4xf32>, %{{.*}}: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [32] inplace {{\[\[}}0, 1{{\]\]}} {
weft.program @elements(%x: tensor<8x4xf32> {weft.input = "x"}, %y: tensor<8x4xf32> {weft.input = "y"})
    -> (tensor<8x4xf32> {weft.output = "z"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.add %x, %y : tensor<8x4xf32>, tensor<8x4xf32>
  %z = weft.exp %s : tensor<8x4xf32>
  weft.return %z : tensor<8x4xf32>
}

// A row of bias repeats: two dimensions. Its buffer is too small.
// CHECK-DAG: weft.kernel @{{.*}}(%{{.*}}: tensor<8x4xf32>, %{{.*}}: tensor<4xf32>) -> tensor<8x4xf32> elementwise [8, 4] inplace {{\[\[}}0{{\]\]}} {
weft.program @bias(%x: tensor<8x4xf32> {weft.input = "x"}, %b: tensor<4xf32> {weft.input = "b"})
    -> (tensor<8x4xf32> {weft.output = "z"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.add %x, %b : tensor<8x4xf32>, tensor<4xf32>
  %z = weft.exp %s : tensor<8x4xf32>
  weft.return %z : tensor<8x4xf32>
}

// Single numbers.
// CHECK-DAG: weft.kernel @{{.*}}(%{{.*}}: tensor<f32>) -> tensor<f32> elementwise [] inplace {{\[\[}}0{{\]\]}} {
weft.program @number(%x: tensor<f32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "z"}) attributes {kind = #weft.kind<eval>} {
  %z = weft.exp %x : tensor<f32>
  weft.return %z : tensor<f32>
}

// Sums over the last dimension, beside a result for each point.
// CHECK-DAG: weft.kernel @{{.*}}(%{{.*}}: tensor<2x6x40xf32>, %{{.*}}: tensor<2x6x40xf32>) -> (tensor<2x6x40xf32>, tensor<2x6xf32>) rows [12, 40] over [1] inplace {{\[\[}}0, 1], []{{\]}} {
weft.program @rows(%x: tensor<2x6x40xf32> {weft.input = "x"}, %y: tensor<2x6x40xf32> {weft.input = "y"})
    -> (tensor<2x6xf32> {weft.output = "s"}, tensor<2x6x40xf32> {weft.output = "z"}) attributes {kind = #weft.kind<eval>} {
  %p = weft.mul %x, %y : tensor<2x6x40xf32>, tensor<2x6x40xf32>
  %s = weft.reduce sum %p dims [2] : tensor<2x6x40xf32>
  weft.return %s, %p : tensor<2x6xf32>, tensor<2x6x40xf32>
}

// Sums over rows.
// CHECK-DAG: weft.kernel @{{.*}}(%{{.*}}: tensor<6x5x40xf32>) -> tensor<5x40xf32> columns [6, 200] over [0] inplace {{\[\[\]\]}} {
weft.program @columns(%x: tensor<6x5x40xf32> {weft.input = "x"}) -> (tensor<5x40xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %e = weft.exp %x : tensor<6x5x40xf32>
  %s = weft.reduce sum %e dims [0] : tensor<6x5x40xf32>
  weft.return %s : tensor<5x40xf32>
}

// A softmax writes an element where it has read it last.
// CHECK-DAG: weft.kernel @{{.*}}(%{{.*}}: tensor<8x40xf32>) -> tensor<8x40xf32> rows [8, 40] over [1] inplace {{\[\[}}0{{\]\]}} attributes {weft.computes = ["softmax"]} {
weft.program @softmax(%x: tensor<8x40xf32> {weft.input = "x"}) -> (tensor<8x40xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.softmax %x : tensor<8x40xf32>
  weft.return %y : tensor<8x40xf32>
}
