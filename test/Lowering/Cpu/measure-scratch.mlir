// RUN: weft-opt --weft-measure-scratch=threads=2 --split-input-file --verify-diagnostics %s | FileCheck %s

// Attention needs tiles beside the arena.

// CHECK: module attributes {plan.library_scratch_bytes = {{[1-9][0-9]+}} : i64, plan.library_scratch_threads = 2 : i64}
module {
  plan.program "eval" @attention {
    %q = plan.input "q" : memref<2x8x2x2xf32>
    %out = plan.alloc temporary : memref<2x8x2x2xf32>
    %lse = plan.alloc temporary : memref<2x2x8xf32>
    plan.attention %q, %q, %q -> %out, %lse {causal, scale = 0.5 : f64} : memref<2x8x2x2xf32>, memref<2x8x2x2xf32>, memref<2x8x2x2xf32> -> memref<2x8x2x2xf32>, memref<2x2x8xf32>
  }
}

// -----

// A copy needs nothing.
// CHECK: module attributes {plan.library_scratch_bytes = 0 : i64, plan.library_scratch_threads = 2 : i64}
module {
  plan.program "eval" @copy {
    %x = plan.input "x" : memref<8xf32>
    %y = plan.alloc temporary : memref<8xf32>
    plan.copy %x to %y : memref<8xf32> to memref<8xf32>
  }
}

// -----

// More rows than oneDNN counts.
module {
  plan.program "eval" @wrong {
    %x = plan.input "x" : memref<2147483648x1xf32>
    %w = plan.input "w" : memref<1x1xf32>
    %y = plan.alloc temporary : memref<2147483648x1xf32>
    // expected-error @+1 {{expects sizes that weft_cpu_gemm accepts, but it refuses them}}
    plan.gemm %x * %w -> %y : memref<2147483648x1xf32> * memref<1x1xf32> -> memref<2147483648x1xf32>
  }
}
