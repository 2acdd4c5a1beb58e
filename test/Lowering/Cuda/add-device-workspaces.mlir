// RUN: weft-opt %s --weft-add-device-workspaces="chips=sm_80" | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: weft-opt %s --weft-add-device-workspaces="chips=sm_90" | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: weft-opt %s --weft-add-device-workspaces="chips=sm_90,sm_80" | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: not weft-opt %s --weft-add-device-workspaces="chips=sm_70" 2>&1 | FileCheck %s --check-prefix=CHIP

// CHIP: error: expects the target cuda:sm_80, cuda:sm_90 or cuda:sm_100, but got cuda:sm_70

// The memory depends on the device and on shapes, not on threads of the host.
// CHECK: module attributes {plan.max_threads = 1 : i64}
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
  %q = plan.alloc temporary : memref<2x16x4x64xf32>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  %dq = plan.alloc temporary : memref<2x16x4x64xf32>
  %dk = plan.alloc temporary : memref<2x16x4x64xf32>
  %dv = plan.alloc temporary : memref<2x16x4x64xf32>
  plan.attention_grad %q, %q, %q, %q, %q, %l -> %dq, %dk, %dv {scale = 0.125 : f64} : memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x4x16xf32> -> memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x4x64xf32>
  plan.gemm %x * %w -> %y : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
}
