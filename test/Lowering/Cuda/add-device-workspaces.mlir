// RUN: weft-opt %s --weft-add-device-workspaces="chips=sm_80" | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: weft-opt %s --weft-add-device-workspaces="chips=sm_90" | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: weft-opt %s --weft-add-device-workspaces="chips=sm_90,sm_80" | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: not weft-opt %s --weft-add-device-workspaces="chips=sm_70" 2>&1 | FileCheck %s --check-prefix=CHIP

// CHIP: error: expects the target cuda:sm_80, cuda:sm_90 or cuda:sm_100, but got cuda:sm_70

// The memory depends on the device and on shapes, not on threads of the host.
// Constants that the device keeps: each list once, at a multiple of 256 bytes.
// CHECK: module attributes {plan.constant_bytes = 1024 : i64, plan.max_threads = 1 : i64}
// CHECK: %[[DQ:.*]] = plan.alloc temporary : memref<2x16x4x64xf32>
// CHECK: %[[ROWS:.*]] = plan.alloc workspace : memref<512xi8>
// SM80: %[[LT:.*]] = plan.alloc workspace : memref<8388608xi8>
// SM90: %[[LT:.*]] = plan.alloc workspace : memref<33554432xi8>
// CHECK: plan.attention_grad {{.*}} workspace(%[[ROWS]] : memref<512xi8>)
// CHECK: plan.gemm {{.*}} workspace(%[[LT]] : memref<{{[0-9]+}}xi8>)
plan.program "eval" @p {
  %x = plan.alloc temporary : memref<8x4xf32>
  %w = plan.alloc temporary : memref<4x2xf32>
  %y = plan.alloc temporary : memref<8x2xf32>
  %c = plan.alloc temporary : memref<65xf64>
  %q = plan.alloc temporary : memref<2x16x4x64xf32>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  %dq = plan.alloc temporary : memref<2x16x4x64xf32>
  %dk = plan.alloc temporary : memref<2x16x4x64xf32>
  %dv = plan.alloc temporary : memref<2x16x4x64xf32>
  plan.attention_grad %q, %q, %q, %q, %q, %l -> %dq, %dk, %dv {scale = 0.125 : f64} : memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x4x16xf32> -> memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x4x64xf32>
  plan.constant %y = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 9.0]]> : tensor<8x2xf32> : memref<8x2xf32>
  plan.constant %y = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 9.0]]> : tensor<8x2xf32> : memref<8x2xf32>
  plan.constant %y = dense<1.0> : tensor<8x2xf32> : memref<8x2xf32>
  plan.constant %c = dense<"0x0000000000000000000000000000000100000000000000020000000000000003000000000000000400000000000000050000000000000006000000000000000700000000000000080000000000000009000000000000000a000000000000000b000000000000000c000000000000000d000000000000000e000000000000000f0000000000000010000000000000001100000000000000120000000000000013000000000000001400000000000000150000000000000016000000000000001700000000000000180000000000000019000000000000001a000000000000001b000000000000001c000000000000001d000000000000001e000000000000001f0000000000000020000000000000002100000000000000220000000000000023000000000000002400000000000000250000000000000026000000000000002700000000000000280000000000000029000000000000002a000000000000002b000000000000002c000000000000002d000000000000002e000000000000002f0000000000000030000000000000003100000000000000320000000000000033000000000000003400000000000000350000000000000036000000000000003700000000000000380000000000000039000000000000003a000000000000003b000000000000003c000000000000003d000000000000003e000000000000003f0000000000000040"> : tensor<65xf64> : memref<65xf64>
  plan.gemm %x * %w -> %y : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
}
