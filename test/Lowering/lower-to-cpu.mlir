// RUN: weft-opt %s --weft-lower-kernels | FileCheck %s --check-prefix=LOOPS
// RUN: weft-opt %s --weft-lower-to-cpu | FileCheck %s --check-prefix=LLVM
// RUN: weft-opt %s --weft-lower-kernels --weft-expand-math | FileCheck %s --check-prefix=MATH
// A kernel becomes a function of a part of its range.

// LOOPS-LABEL: llvm.func @k_flat(%arg0: !llvm.ptr, %arg1: i64, %arg2: i64)
// LOOPS: scf.for
// LOOPS: math.exp %{{.*}} : vector<16xf32>
// LOOPS: scf.if
// LOOPS: llvm.intr.masked.load
// LOOPS: llvm.intr.masked.store
// LLVM-LABEL: llvm.func @k_flat(%arg0: !llvm.ptr, %arg1: i64, %arg2: i64)
// LLVM-NOT: scf.
// LLVM-NOT: math.
// MATH-LABEL: llvm.func @k_flat
// MATH-NOT: math.exp
// MATH: math.fma
weft.kernel @k_flat(%x: tensor<8x5xf32>) -> tensor<8x5xf32> {
  %y = weft.exp %x : tensor<8x5xf32>
  weft.yield %y : tensor<8x5xf32>
}

// Sums of a row: four partial sums that take turns.
// LOOPS-LABEL: llvm.func @k_rows
// LOOPS: scf.for
// LOOPS: scf.for {{.*}} iter_args(%[[A:.*]] = {{.*}}, %[[B:.*]] = {{.*}}, %[[C:.*]] = {{.*}}, %[[D:.*]] = {{.*}})
// LOOPS: scf.yield %[[B]], %[[C]], %[[D]],
// LOOPS: vector.shuffle
weft.kernel @k_rows(%x: tensor<8x64xf32>) -> tensor<8xf32> {
  %y = weft.reduce sum %x dims [1] : tensor<8x64xf32>
  weft.yield %y : tensor<8xf32>
}
