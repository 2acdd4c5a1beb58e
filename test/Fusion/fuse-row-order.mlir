// RUN: weft-opt %s --weft-decompose --weft-fuse --remarks-filter=fusion -o %t.mlir 2> %t.txt
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=WHY < %t.txt
// RUN: weft-interp --compare %s %t.mlir --tolerance=1e-6

// The order of a sum follows from its shape. A kernel that reads a vector along
// the last dimension walks it in a loop of its own, so a sum over both
// dimensions joins that kernel only where the order stays.

// A sum over 4 x 17 elements is one over 68: steps of 17 would add up otherwise.
// WHY: reduce is not fused with the kernel of its operand: its loops would add up in another order
// CHECK-LABEL: weft.program @uneven
// CHECK-NEXT: %[[M:.*]] = weft.call @[[MUL:.*]](%arg0, %arg1)
// CHECK-NEXT: %[[S:.*]] = weft.call @[[SUM:.*]](%[[M]])
// CHECK-NEXT: weft.return %[[S]]
weft.program @uneven(%x: tensor<4x17xf32> {weft.input = "x"}, %g: tensor<17xf32> {weft.input = "g"}) -> (tensor<f32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %m = weft.mul %x, %g : tensor<4x17xf32>, tensor<17xf32>
  %s = weft.reduce sum %m dims [0, 1] : tensor<4x17xf32>
  weft.return %s : tensor<f32>
}

// Steps of whole chunks of 16 elements keep it.
// CHECK-LABEL: weft.program @even
// CHECK-NEXT: %[[S:.*]] = weft.call @[[EVEN:.*]](%arg0, %arg1)
// CHECK-NEXT: weft.return %[[S]]
weft.program @even(%x: tensor<4x32xf32> {weft.input = "x"}, %g: tensor<32xf32> {weft.input = "g"}) -> (tensor<f32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %m = weft.mul %x, %g : tensor<4x32xf32>, tensor<32xf32>
  %s = weft.reduce sum %m dims [0, 1] : tensor<4x32xf32>
  weft.return %s : tensor<f32>
}

// A kernel that sums stays one loop over the row: what would split it does not
// join.
// CHECK-LABEL: weft.program @later
// CHECK-NEXT: %[[BOTH:.*]]:2 = weft.call @[[FIRST:.*]](%arg0)
// CHECK-NEXT: %[[Y:.*]] = weft.call @[[SECOND:.*]](%[[BOTH]]#0, %arg1)
// CHECK-NEXT: weft.return %[[BOTH]]#1, %[[Y]]
weft.program @later(%x: tensor<4x17xf32> {weft.input = "x"}, %g: tensor<17xf32> {weft.input = "g"}) -> (tensor<f32> {weft.output = "s"}, tensor<4x17xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.abs %x : tensor<4x17xf32>
  %s = weft.reduce sum %a dims [0, 1] : tensor<4x17xf32>
  %y = weft.mul %a, %g : tensor<4x17xf32>, tensor<17xf32>
  weft.return %s, %y : tensor<f32>, tensor<4x17xf32>
}

// A part of each row is copied first.
// CHECK-LABEL: weft.program @part
// CHECK: %[[C:.*]] = weft.call @[[COPY:.*]](%arg0)
// CHECK-NEXT: %[[S:.*]] = weft.call @[[SUM]](%[[C]])
// CHECK-NEXT: weft.return %[[S]]
weft.program @part(%x: tensor<4x20xf32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %p = weft.slice %x offsets [0, 3] sizes [4, 17] strides [1, 1] : tensor<4x20xf32>
  %s = weft.reduce sum %p dims [0, 1] : tensor<4x17xf32>
  weft.return %s : tensor<f32>
}

// CHECK-DAG: weft.kernel @[[SUM]](%{{.*}}: tensor<4x17xf32>) -> tensor<f32> rows [68] over [0]
// CHECK-DAG: weft.kernel @[[EVEN]]({{.*}}) -> tensor<f32> rows [4, 32] over [0, 1]
// CHECK-DAG: weft.kernel @[[FIRST]]({{.*}}) -> (tensor<4x17xf32>, tensor<f32>) rows [68] over [0]
// CHECK-DAG: weft.kernel @[[COPY]]({{.*}}) -> tensor<4x17xf32> elementwise [4, 17]
