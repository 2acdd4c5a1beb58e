// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-kernels | FileCheck %s
// A kernel becomes a function of a part of its range.

// One dimension: whole chunks, then the rest under a mask.
// CHECK-LABEL: llvm.func @k_flat(%arg0: !llvm.ptr, %arg1: i64, %arg2: i64)
// CHECK: scf.for
// CHECK: math.exp %{{.*}} : vector<16xf32>
// CHECK: scf.if
// CHECK: llvm.intr.masked.load
// CHECK: llvm.intr.masked.store
weft.kernel @k_flat(%x: tensor<8x5xf32>) -> tensor<8x5xf32> elementwise [40] inplace [[]] {
  %y = weft.exp %x : tensor<8x5xf32>
  weft.yield %y : tensor<8x5xf32>
}

// A sum over a row: four partial sums that take turns.
// CHECK-LABEL: llvm.func @k_rows
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}}, %[[D:.*]] = %{{.*}})
// CHECK: scf.yield %[[B]], %[[C]], %[[D]],
// CHECK: vector.shuffle
weft.kernel @k_rows(%x: tensor<8x64xf32>) -> tensor<8xf32> rows [8, 64] over [1] inplace [[]] {
  %y = weft.reduce sum %x dims [1] : tensor<8x64xf32>
  weft.yield %y : tensor<8xf32>
}

// A sum over the rows: the sums of a tile of columns stay on the stack.
// CHECK-LABEL: llvm.func @k_columns
// CHECK: llvm.alloca %{{.*}} x f32 {alignment = 64
// CHECK: scf.for
// CHECK: arith.addf %{{.*}} : vector<16xf32>
weft.kernel @k_columns(%x: tensor<64x32xf32>) -> tensor<32xf32> columns [64, 32] over [0] inplace [[]] {
  %y = weft.reduce sum %x dims [0] : tensor<64x32xf32>
  weft.yield %y : tensor<32xf32>
}

// A costly value that a later pass over the row needs is kept: one exp.
// CHECK-LABEL: llvm.func @k_softmax
// CHECK: math.exp
// CHECK-NOT: math.exp
// CHECK: llvm.return
weft.kernel @k_softmax(%x: tensor<8x64xf32>) -> tensor<8x64xf32> rows [8, 64] over [1] inplace [[]] {
  %m = weft.reduce max %x dims [1] {keep_dims} : tensor<8x64xf32>
  %d = weft.sub %x, %m : tensor<8x64xf32>, tensor<8x1xf32>
  %e = weft.exp %d : tensor<8x64xf32>
  %s = weft.reduce sum %e dims [1] {keep_dims} : tensor<8x64xf32>
  %y = weft.div %e, %s : tensor<8x64xf32>, tensor<8x1xf32>
  weft.yield %y : tensor<8x64xf32>
}

// Kernels that differ in the size of their range alone have one code.
// CHECK-LABEL: llvm.func @k_long(
// CHECK: scf.for
// CHECK-LABEL: llvm.func @k_longer(%arg0: !llvm.ptr, %arg1: i64, %arg2: i64) attributes {{.*}}weft.extent = 960
// CHECK-NEXT: llvm.call @k_long(%arg0, %arg1, %arg2)
// CHECK-NEXT: llvm.return
weft.kernel @k_long(%x: tensor<320xf32>) -> tensor<320xf32> elementwise [320] inplace [[]] {
  %y = weft.neg %x : tensor<320xf32>
  weft.yield %y : tensor<320xf32>
}
weft.kernel @k_longer(%x: tensor<960xf32>) -> tensor<960xf32> elementwise [960] inplace [[]] {
  %y = weft.neg %x : tensor<960xf32>
  weft.yield %y : tensor<960xf32>
}
// A rest that another size leaves is other code.
// CHECK-LABEL: llvm.func @k_odd_size(
// CHECK-NOT: llvm.call
// CHECK: llvm.return
weft.kernel @k_odd_size(%x: tensor<961xf32>) -> tensor<961xf32> elementwise [961] inplace [[]] {
  %y = weft.neg %x : tensor<961xf32>
  weft.yield %y : tensor<961xf32>
}
