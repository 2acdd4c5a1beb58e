// RUN: weft-opt %s --weft-choose-attention="chips=sm_90 attention=cudnn" --weft-add-device-workspaces="chips=sm_90" | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: weft-opt %s --weft-choose-attention="chips=sm_80 attention=cudnn" --weft-add-device-workspaces="chips=sm_80" | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: weft-opt %s --weft-choose-attention="chips=sm_100 attention=cudnn" --weft-add-device-workspaces="chips=sm_100" | FileCheck %s --check-prefixes=CHECK,SM100
// RUN: weft-opt %s --weft-add-device-workspaces | FileCheck %s --check-prefix=OWN

// OWN-NOT: cuda.attention
// OWN: plan.alloc workspace : memref<512xi8>

// Workspaces of cuDNN: 512 bytes forward; backward also the sums of rows, the
// gradients of scores in tiles of 64 x 128 before sm_100, and the gradients of keys
// and values for each head where heads share them.
// CHECK: module attributes {plan.max_threads = 1 : i64}
// CHECK: %[[FORWARD:.*]] = plan.alloc workspace : memref<512xi8>
// SM90: %[[BACKWARD:.*]] = plan.alloc workspace : memref<164864xi8>
// SM100: %[[BACKWARD:.*]] = plan.alloc workspace : memref<66560xi8>
// CHECK: plan.attention {{.*}} workspace(%[[FORWARD]] : memref<512xi8>)
// CHECK: plan.attention_grad {{.*}} workspace(%[[BACKWARD]] : memref<{{[0-9]+}}xi8>)
plan.program "eval" @p {
  %q = plan.alloc temporary : memref<2x16x4x64xf16>
  %k = plan.alloc temporary : memref<2x16x2x64xf16>
  %o = plan.alloc temporary : memref<2x16x4x64xf16>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  %dq = plan.alloc temporary : memref<2x16x4x64xf16>
  %dk = plan.alloc temporary : memref<2x16x2x64xf16>
  %dv = plan.alloc temporary : memref<2x16x2x64xf16>
  plan.attention %q, %k, %k -> %o, %l {causal, scale = 0.125 : f64} : memref<2x16x4x64xf16>, memref<2x16x2x64xf16>, memref<2x16x2x64xf16> -> memref<2x16x4x64xf16>, memref<2x4x16xf32>
  plan.attention_grad %q, %q, %k, %k, %o, %l -> %dq, %dk, %dv {causal, scale = 0.125 : f64} : memref<2x16x4x64xf16>, memref<2x16x4x64xf16>, memref<2x16x2x64xf16>, memref<2x16x2x64xf16>, memref<2x16x4x64xf16>, memref<2x4x16xf32> -> memref<2x16x4x64xf16>, memref<2x16x2x64xf16>, memref<2x16x2x64xf16>
}
