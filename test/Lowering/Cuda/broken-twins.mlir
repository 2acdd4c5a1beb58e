// A kernel that adds up rows, run by the emulated driver as it is; errors in it are
// seen.
// REQUIRES: cuda-toolkit, emulated-device

// RUN: rm -rf %t && mkdir %t
// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-to-cuda -o %t/good.mlir
// RUN: sed 's/nvvm.barrier0$//' %t/good.mlir > %t/barrier.mlir
// RUN: sed 's/constant(-1 : i32)/constant(65535 : i32)/' %t/good.mlir > %t/mask.mlir
// RUN: sed 's/shfl.sync  bfly/shfl.sync  up/' %t/good.mlir > %t/kind.mlir
// RUN: %python %S/Inputs/run_kernel.py %build/test/emulation/libcuda.so.1 %ptxas %t/good.mlir k_sum 6 12288 | FileCheck %s --check-prefix=GOOD
// GOOD: {{^}}2098176.0 6292480.0 10486784.0
// RUN: env WEFT_EMULATION_SEED=7 %python %S/Inputs/run_kernel.py %build/test/emulation/libcuda.so.1 %ptxas %t/good.mlir k_sum 6 12288 | FileCheck %s --check-prefix=GOOD

// RUN: not %python %S/Inputs/run_kernel.py %build/test/emulation/libcuda.so.1 %ptxas %t/barrier.mlir k_sum 6 12288 2>&1 | FileCheck %s --check-prefix=BARRIER
// BARRIER: emulation: error: kernel k_sum: thread 0 of block 0 reads what nobody has written: byte 4 of shared memory
// RUN: not %python %S/Inputs/run_kernel.py %build/test/emulation/libcuda.so.1 %ptxas %t/mask.mlir k_sum 6 12288 2>&1 | FileCheck %s --check-prefix=MASK
// MASK: emulation: error: kernel k_sum: lane 0 wants the value of lane 16, which does not take part
// RUN: %python %S/Inputs/run_kernel.py %build/test/emulation/libcuda.so.1 %ptxas %t/kind.mlir k_sum 6 12288 | FileCheck %s --check-prefix=KIND
// KIND-NOT: 2098176.0
// RUN: not %python %S/Inputs/run_kernel.py %build/test/emulation/libcuda.so.1 %ptxas %t/good.mlir k_sum 6 12287 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: emulation: error: kernel k_sum: thread 255 of block 5 touches
// RUN: not %python %S/Inputs/run_kernel.py %build/test/emulation/libcuda.so.1 %ptxas %t/good.mlir k_sum 5 12288 2>&1 | FileCheck %s --check-prefix=OUT
// OUT: emulation: error: kernel k_sum: thread 0 of block 5 touches 4 bytes at byte 20 of an allocation of 20 bytes
module attributes {weft.options = {target = "cuda:sm_90"}} {
weft.kernel @k_sum(%x: tensor<6x2048xf32>) -> tensor<6xf32> rows [6, 2048] over [1] inplace [[]] {
  %y = weft.reduce sum %x dims [1] : tensor<6x2048xf32>
  weft.yield %y : tensor<6xf32>
}
}
