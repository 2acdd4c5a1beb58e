// RUN: weft-opt %s --weft-choose-attention="attention=auto" | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: weft-opt %s --weft-choose-attention="attention=cudnn" | FileCheck %s --check-prefix=CUDNN
// RUN: weft-opt %s --weft-choose-attention="attention=own" | FileCheck %s --check-prefix=OWN
// RUN: weft-opt %s --weft-choose-attention="attention=auto chips=sm_90,sm_80" | FileCheck %s --check-prefixes=CHECK,BOTH
// RUN: weft-opt %s --weft-choose-attention="attention=auto most-bytes=164863" | FileCheck %s --check-prefix=SMALL
// RUN: weft-opt %s --weft-choose-attention="attention=auto" --weft-add-device-workspaces | FileCheck %s --check-prefix=WORKSPACES
// RUN: weft-opt %s --weft-choose-attention="attention=auto" --remarks-filter=attention 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARKS
// RUN: weft-opt %s --weft-choose-attention="attention=auto most-bytes=164863 deterministic=false" --weft-add-device-workspaces | FileCheck %s --check-prefix=ANY
// RUN: weft-opt %s --weft-choose-attention="attention=cudnn most-bytes=164863 deterministic=false" | FileCheck %s --check-prefix=STRICT
// RUN: weft-opt %s --weft-choose-attention="attention=auto most-bytes=164864 deterministic=false" | FileCheck %s --check-prefix=FITS
// RUN: weft-opt %s --weft-choose-attention="attention=auto most-bytes=66559 deterministic=false" | FileCheck %s --check-prefix=SMALL
// RUN: weft-opt %s --weft-choose-attention="attention=auto most-bytes=164863 deterministic=false" --remarks-filter=attention 2>&1 >/dev/null | FileCheck %s --check-prefix=ANY-REMARKS
// RUN: weft-opt %s --weft-choose-attention="attention=auto most-bytes=164863" --remarks-filter=attention 2>&1 >/dev/null | FileCheck %s --check-prefix=HINT
// RUN: not weft-opt %s --weft-choose-attention="attention=flash" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not weft-opt %s --weft-choose-attention="chips=sm_70" 2>&1 | FileCheck %s --check-prefix=CHIP

// Each command of attention is marked by itself.

// OWN-NOT: cuda.attention
// NONE: for the --attention option: Cannot find option named 'flash'!
// CHIP: error: {{.*}}sm_70

// cuDNN computes this forward and backward pass. The arena has the larger
// workspace of both implementations.
// CHECK-LABEL: plan.program "eval" @fits
// CHECK: plan.attention {{.*}}cuda.attention = "cudnn_or_own"
// CHECK: plan.attention_grad {{.*}}cuda.attention = "cudnn_or_own"
// CUDNN-LABEL: plan.program "eval" @fits
// CUDNN: plan.attention {{.*}}cuda.attention = "cudnn"
// CUDNN: plan.attention_grad {{.*}}cuda.attention = "cudnn"
// A gradient above the limit, without others: nothing is left for cuDNN.
// SMALL-NOT: cuda.attention
// WORKSPACES-LABEL: plan.program "eval" @fits
// WORKSPACES: %[[FORWARD:.*]] = plan.alloc workspace : memref<512xi8>
// WORKSPACES: %[[BACKWARD:.*]] = plan.alloc workspace : memref<164864xi8>
// WORKSPACES: plan.attention {{.*}} workspace(%[[FORWARD]] : memref<512xi8>)
// WORKSPACES: plan.attention_grad {{.*}} workspace(%[[BACKWARD]] : memref<164864xi8>)
// Gradients may have any order where a fixed one exceeds the limit, and nowhere
// else. The f32 sums of the gradients of queries are part of their workspace.
// ANY-LABEL: plan.program "eval" @fits
// ANY: %[[BACKWARD:.*]] = plan.alloc workspace : memref<66560xi8>
// ANY: plan.attention {{.*}}cuda.attention = "cudnn_or_own", scale
// ANY: plan.attention_grad {{.*}} workspace(%[[BACKWARD]] : memref<66560xi8>) {{.*}}cuda.attention = "cudnn_or_own", cuda.nondeterministic
// STRICT-LABEL: plan.program "eval" @fits
// STRICT: plan.attention {{.*}}cuda.attention = "cudnn", scale
// STRICT: plan.attention_grad {{.*}}cuda.attention = "cudnn", cuda.nondeterministic
// FITS-NOT: cuda.nondeterministic
// ANY-REMARKS: remark: {{.*}}cuDNN computes attention, or own kernels where it is missing
// ANY-REMARKS: remark: {{.*}}cuDNN computes attention, or own kernels where it is missing
// ANY-REMARKS: remark: {{.*}}the gradients differ from run to run (--deterministic=off): a fixed order of their sums would take 164864 bytes of workspace instead of 66560
// HINT: remark: {{.*}}own kernels compute attention: expects gradients that cuDNN computes with --attention=auto, but got none
// HINT: remark: {{.*}}own kernels compute attention: expects a workspace of at most 164863 bytes with --attention=auto, but got 164864
// HINT: remark: {{.*}}with --deterministic=off, cuDNN could compute the gradients in 66560 bytes of workspace, but they would differ from run to run
// REMARKS: choose-attention.mlir:[[#@LINE+10]]:3: remark: {{.*}}cuDNN computes attention, or own kernels where it is missing
// REMARKS: choose-attention.mlir:[[#@LINE+10]]:3: remark: {{.*}}cuDNN computes attention, or own kernels where it is missing
plan.program "eval" @fits {
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

// Heads of 256 elements are for sm_90 alone.
// AUTO-LABEL: plan.program "eval" @wide
// AUTO: plan.attention {{.*}}cuda.attention = "cudnn_or_own"
// BOTH-LABEL: plan.program "eval" @wide
// BOTH-NOT: cuda.attention
plan.program "eval" @wide {
  %q = plan.alloc temporary : memref<2x16x4x256xbf16>
  %o = plan.alloc temporary : memref<2x16x4x256xbf16>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  plan.attention %q, %q, %q -> %o, %l {causal, scale = 0.125 : f64} : memref<2x16x4x256xbf16>, memref<2x16x4x256xbf16>, memref<2x16x4x256xbf16> -> memref<2x16x4x256xbf16>, memref<2x4x16xf32>
}

// Each rule of cuDNN that attention breaks, and the price of dropout.
// CHECK-LABEL: plan.program "eval" @refused
// CHECK-NOT: cuda.attention
// REMARKS: remark: {{.*}}own kernels compute attention: expects heads of f16 or bf16 with --attention=cudnn, but got f32
// REMARKS: remark: {{.*}}own kernels compute attention: expects heads of a multiple of 8 elements, at most 256 on sm_90, with --attention=cudnn, but got 60
// REMARKS: remark: {{.*}}own kernels compute attention: expects as many keys as queries of causal attention with --attention=cudnn, but got 24 and 16
// REMARKS: remark: {{.*}}own kernels compute attention: expects no window with --attention=cudnn, but got 4
// REMARKS: remark: {{.*}}own kernels compute attention: expects no softcap with --attention=cudnn, but got 50
// REMARKS: remark: {{.*}}own kernels compute attention: expects no segments with --attention=cudnn, but got some
// REMARKS: remark: {{.*}}own kernels compute attention: expects no dropout, because cuDNN draws other masks, with --attention=cudnn, but got 0.1
// 2 x 4 x 136 visible scores.
// REMARKS: remark: {{.*}}dropout draws 1088 random numbers in each run; without it, or with dropout of outputs alone, cuDNN could compute attention
plan.program "eval" @refused {
  %wide = plan.alloc temporary : memref<2x16x4x64xf32>
  %widest = plan.alloc temporary : memref<2x16x4x64xf32>
  %odder = plan.alloc temporary : memref<2x16x4x60xf16>
  %o = plan.alloc temporary : memref<2x16x4x64xf16>
  %odd = plan.alloc temporary : memref<2x16x4x60xf16>
  %q = plan.alloc temporary : memref<2x16x4x64xf16>
  %k = plan.alloc temporary : memref<2x24x4x64xf16>
  %l = plan.alloc temporary : memref<2x4x16xf32>
  %rng = plan.alloc temporary : memref<2xi64>
  %ids = plan.alloc temporary : memref<2x16xi32>
  plan.attention %wide, %wide, %wide -> %widest, %l {causal, scale = 0.125 : f64} : memref<2x16x4x64xf32>, memref<2x16x4x64xf32>, memref<2x16x4x64xf32> -> memref<2x16x4x64xf32>, memref<2x4x16xf32>
  plan.attention %odd, %odd, %odd -> %odder, %l {causal, scale = 0.125 : f64} : memref<2x16x4x60xf16>, memref<2x16x4x60xf16>, memref<2x16x4x60xf16> -> memref<2x16x4x60xf16>, memref<2x4x16xf32>
  plan.attention %q, %k, %k -> %o, %l {causal, scale = 0.125 : f64} : memref<2x16x4x64xf16>, memref<2x24x4x64xf16>, memref<2x24x4x64xf16> -> memref<2x16x4x64xf16>, memref<2x4x16xf32>
  plan.attention %q, %q, %q -> %o, %l {causal, scale = 0.125 : f64, window = 4 : i64} : memref<2x16x4x64xf16>, memref<2x16x4x64xf16>, memref<2x16x4x64xf16> -> memref<2x16x4x64xf16>, memref<2x4x16xf32>
  plan.attention %q, %q, %q -> %o, %l {causal, scale = 0.125 : f64, softcap = 50.0 : f64} : memref<2x16x4x64xf16>, memref<2x16x4x64xf16>, memref<2x16x4x64xf16> -> memref<2x16x4x64xf16>, memref<2x4x16xf32>
  plan.attention %q, %q, %q -> %o, %l segments(%ids : memref<2x16xi32>) {causal, scale = 0.125 : f64} : memref<2x16x4x64xf16>, memref<2x16x4x64xf16>, memref<2x16x4x64xf16> -> memref<2x16x4x64xf16>, memref<2x4x16xf32>
  plan.attention %q, %q, %q -> %o, %l rng(%rng : memref<2xi64>) {causal, dropout = 1.0e-01 : f64, scale = 0.125 : f64} : memref<2x16x4x64xf16>, memref<2x16x4x64xf16>, memref<2x16x4x64xf16> -> memref<2x16x4x64xf16>, memref<2x4x16xf32>
}
