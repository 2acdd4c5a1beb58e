// RUN: weft-opt --weft-add-workspaces=threads=2 --split-input-file --verify-diagnostics %s | FileCheck %s

// Tiles of attention for both threads, behind the other buffers of the command;
// a copy needs nothing. What has a workspace keeps it.

// CHECK: module attributes {plan.max_threads = 2 : i64}
module {
  plan.program "eval" @attention {
    %q = plan.input "q" : memref<2x8x2x2xf32>
    %out = plan.alloc temporary : memref<2x8x2x2xf32>
    %lse = plan.alloc temporary : memref<2x2x8xf32>
    %own = plan.alloc workspace : memref<131072xi8>
    // CHECK: plan.alloc temporary : memref<2x2x8xf32>
    // CHECK-NEXT: %[[WS:.*]] = plan.alloc workspace : memref<[[#BYTES:]]xi8>
    // CHECK-NEXT: plan.alloc workspace : memref<131072xi8>
    // CHECK-NEXT: plan.attention {{.*}} workspace(%[[WS]] : memref<[[#BYTES]]xi8>)
    plan.attention %q, %q, %q -> %out, %lse {causal, scale = 0.5 : f64} : memref<2x8x2x2xf32>, memref<2x8x2x2xf32>, memref<2x8x2x2xf32> -> memref<2x8x2x2xf32>, memref<2x2x8xf32>
    // CHECK-NEXT: plan.attention %{{.*}} workspace(%{{.*}} : memref<131072xi8>)
    plan.attention %q, %q, %q -> %out, %lse workspace(%own : memref<131072xi8>) {causal, scale = 0.5 : f64} : memref<2x8x2x2xf32>, memref<2x8x2x2xf32>, memref<2x8x2x2xf32> -> memref<2x8x2x2xf32>, memref<2x2x8xf32>
    // CHECK-NEXT: plan.copy
    plan.copy %q to %out : memref<2x8x2x2xf32> to memref<2x8x2x2xf32>
  }
}

// -----

// The bytes follow from shape and threads: what oneDNN may copy.
module {
  plan.program "eval" @product {
    %x = plan.input "x" : memref<8x4xf32>
    %w = plan.input "w" : memref<4x2xf32>
    %y = plan.alloc temporary : memref<8x2xf32>
    // CHECK: plan.alloc workspace : memref<2560xi8>
    plan.gemm %x * %w -> %y : memref<8x4xf32> * memref<4x2xf32> -> memref<8x2xf32>
  }
}

// -----

// More rows than oneDNN counts.
module {
  plan.program "eval" @wrong {
    %x = plan.input "x" : memref<2147483648x1xf32>
    %w = plan.input "w" : memref<1x1xf32>
    %y = plan.alloc temporary : memref<2147483648x1xf32>
    // expected-error @+1 {{'plan.gemm' op expects batch, M, N and K of at most 2^30 and matrices of at most 2^34 elements, but got 2147483648}}
    plan.gemm %x * %w -> %y : memref<2147483648x1xf32> * memref<1x1xf32> -> memref<2147483648x1xf32>
  }
}
