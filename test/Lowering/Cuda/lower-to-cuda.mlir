// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-to-cuda | FileCheck %s
// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-to-cuda | weft-opt | FileCheck %s
// Kernels end in the LLVM and NVVM dialects; a launch finds them there.

// CHECK: gpu.module @kernels
// CHECK-LABEL: llvm.func @k_norm(%arg0: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %arg1: !llvm.ptr<1> {llvm.noalias})
// CHECK-SAME: nvvm.kernel
// CHECK-NOT: {{(scf|math|vector|arith|memref)\.}}
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: loop_annotation = #
// CHECK: nvvm.shfl.sync bfly
// CHECK: llvm.intr.sqrt
// CHECK-NOT: nvvm.bar.warp.sync
// CHECK: llvm.return
weft.kernel @k_norm(%x: tensor<8x256xf32>) -> tensor<8xf32> rows [8, 256] over [1] inplace [[]] {
  %s = weft.mul %x, %x : tensor<8x256xf32>, tensor<8x256xf32>
  %t = weft.reduce sum %s dims [1] : tensor<8x256xf32>
  %y = weft.sqrt %t : tensor<8xf32>
  weft.yield %y : tensor<8xf32>
}

// CHECK-LABEL: llvm.func @k_exp
// CHECK: llvm.call @__nv_expf
weft.kernel @k_exp(%x: tensor<64xf32>) -> tensor<64xf32> elementwise [64] inplace [[]] {
  %y = weft.exp %x : tensor<64xf32>
  weft.yield %y : tensor<64xf32>
}

// Exchanges of f64 are two of 32 bits.
// CHECK-LABEL: llvm.func @k_long
// CHECK-COUNT-2: nvvm.shfl.sync bfly {{.*}} : i32 -> i32
// CHECK: nvvm.barrier
weft.kernel @k_long(%x: tensor<1x100000xf32>) -> tensor<1xf32> rows [100000] over [0] inplace [[]] {
  %y = weft.reduce sum %x dims [1] : tensor<1x100000xf32>
  weft.yield %y : tensor<1xf32>
}

plan.program "eval" @eval {
  %x = plan.input "x" : memref<8x256xf32>
  %y = plan.alloc temporary : memref<8xf32>
  plan.launch @k_norm ins(%x : memref<8x256xf32>) outs(%y : memref<8xf32>)
}
