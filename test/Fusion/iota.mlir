// RUN: weft-opt %s --weft-decompose --weft-fuse | FileCheck %s
// RUN: weft-opt %s --weft-decompose --weft-fuse -o %t.mlir
// RUN: weft-opt %t.mlir --weft-lower-to-plan --weft-convert-kernels-to-linalg | FileCheck %s --check-prefix=LINALG
// RUN: weft-interp --compare %s %t.mlir --tolerance=0
// Numbers of elements have no buffer: kernels read them through, and whoever needs
// them in memory gets a copy.

// CHECK-LABEL: weft.program @read_through
// CHECK-NEXT: %[[Y:.*]] = weft.call @[[READ:k_[0-9a-f]+]](%arg0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: weft.return %[[Y]]
weft.program @read_through(%x: tensor<8x4xf32> {weft.input = "x"})
    -> (tensor<8x4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %i = weft.iota [0, 1] : tensor<8x4xi32>
  %f = weft.cast %i : tensor<8x4xi32> to tensor<8x4xf32>
  %j = weft.iota [1] : tensor<8x4xi64>
  %g = weft.cast %j : tensor<8x4xi64> to tensor<8x4xf32>
  %a = weft.mul %x, %f : tensor<8x4xf32>, tensor<8x4xf32>
  %y = weft.add %a, %g : tensor<8x4xf32>, tensor<8x4xf32>
  weft.return %y : tensor<8x4xf32>
}

// CHECK-LABEL: weft.program @in_memory
// CHECK-NEXT: %[[I:.*]] = weft.call @[[COPY:k_[0-9a-f]+]]() : () -> tensor<2x3xi64>
// CHECK-NEXT: %[[R:.*]] = weft.reshape %[[I]]
// CHECK-NEXT: weft.return %[[I]], %[[R]]
weft.program @in_memory() -> (tensor<2x3xi64> {weft.output = "i"}, tensor<6xi64> {weft.output = "r"})
    attributes {kind = #weft.kind<eval>} {
  %i = weft.iota [0, 1] : tensor<2x3xi64>
  %r = weft.reshape %i : tensor<2x3xi64> to tensor<6xi64>
  weft.return %i, %r : tensor<2x3xi64>, tensor<6xi64>
}

// Numbers of the whole tensor join its dimensions.
// CHECK-LABEL: weft.program @joined
weft.program @joined(%x: tensor<6x5xf32> {weft.input = "x"})
    -> (tensor<6x5xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %i = weft.iota [0, 1] : tensor<6x5xi32>
  %f = weft.cast %i : tensor<6x5xi32> to tensor<6x5xf32>
  %y = weft.mul %x, %f : tensor<6x5xf32>, tensor<6x5xf32>
  weft.return %y : tensor<6x5xf32>
}

// CHECK: weft.kernel @[[COPY]]()
// CHECK-NEXT: %[[N:.*]] = weft.iota [0, 1]
// CHECK-NEXT: weft.materialize %[[N]]

// Numbers along one dimension keep it apart from the others.
// LINALG: func.func {{.*}}weft.sizes = array<i64: 8, 4>
// LINALG: %[[ROW:.*]] = linalg.index 0 : index
// LINALG: %[[R:.*]] = arith.index_castui %[[ROW]] : index to i32
// LINALG: %[[FIRST:.*]] = arith.muli %[[R]], %c4_i32
// LINALG: %[[COLUMN:.*]] = linalg.index 1 : index
// LINALG: %[[C:.*]] = arith.index_castui %[[COLUMN]] : index to i32
// LINALG: arith.addi %[[FIRST]], %[[C]]
// LINALG: %[[AGAIN:.*]] = linalg.index 1 : index
// LINALG: arith.index_castui %[[AGAIN]] : index to i64
// LINALG: func.func {{.*}}weft.sizes = array<i64: 6>
// LINALG: func.func {{.*}}weft.sizes = array<i64: 30>
