// RUN: weft-opt %s --weft-convert-kernels-to-linalg --weft-lower-kernels-to-gpu | FileCheck %s
// Accesses are as wide as the places of all buffers of a kernel's launches allow.

// %x lies at multiples of 8 bytes, %y of 256.
// CHECK-LABEL: gpu.func @k_scale
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
weft.kernel @k_scale(%x: tensor<64xf32>) -> tensor<64xf32> elementwise [64] inplace [[0]] {
  %y = weft.neg %x : tensor<64xf32>
  weft.yield %y : tensor<64xf32>
}

plan.program "eval" @eval {
  %x = plan.input "x" {offset = 0 : i64} : memref<130xf32>
  %y = plan.alloc temporary {offset = 1024 : i64} : memref<64xf32>
  %z = plan.alloc temporary {offset = 2048 : i64} : memref<64xf32>
  %a = plan.view %x : memref<130xf32> to memref<64xf32>
  %b = plan.view %x : memref<130xf32> to memref<64xf32, strided<[1], offset: 66>>
  plan.launch @k_scale ins(%a : memref<64xf32>) outs(%y : memref<64xf32>)
  plan.launch @k_scale ins(%b : memref<64xf32, strided<[1], offset: 66>>) outs(%z : memref<64xf32>)
}
