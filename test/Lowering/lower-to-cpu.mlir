// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-to-cpu | FileCheck %s
// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-to-cpu | weft-opt | FileCheck %s
// Kernels end in the LLVM dialect and the module still parses.

// CHECK-LABEL: llvm.func @k_exp(%arg0: !llvm.ptr, %arg1: i64, %arg2: i64)
// CHECK-NOT: {{(scf|math|vector|arith)\.}}
// CHECK: llvm.intr.fma
// CHECK: llvm.return
weft.kernel @k_exp(%x: tensor<8x5xf32>) -> tensor<8x5xf32> elementwise [40] inplace [[]] {
  %y = weft.exp %x : tensor<8x5xf32>
  weft.yield %y : tensor<8x5xf32>
}
