// RUN: weft-opt --weft-measure-scratch=threads=2 --split-input-file --verify-diagnostics %s | FileCheck %s

// Attention needs tiles beside the arena.

// CHECK: module attributes {plan.library_scratch_bytes = {{[1-9][0-9]+}} : i64, plan.library_scratch_threads = 2 : i64}
module {
  plan.program "eval" @attention {
    %q = plan.input "q" : memref<2x8x2x2xf32>
    %out = plan.alloc temporary : memref<2x8x2x2xf32>
    %lse = plan.alloc temporary : memref<2x2x8xf32>
    plan.call "weft_cpu_attention"(read %q : memref<2x8x2x2xf32>, read %q : memref<2x8x2x2xf32>, read %q : memref<2x8x2x2xf32>, write %out : memref<2x8x2x2xf32>, write %lse : memref<2x2x8xf32>) ints [2, 8, 8, 2, 2, 2, 1, 0, 32, 4, 2, 32, 4, 2, 32, 4, 2, 32, 4, 2, 0] floats [0.5, 0.0]
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

module {
  plan.program "eval" @wrong {
    %x = plan.input "x" : memref<4x4xf32>
    %y = plan.alloc temporary : memref<4x4xf32>
    // expected-error @+1 {{expects arguments that weft_cpu_gemm accepts, but it refuses them}}
    plan.call "weft_cpu_gemm"(read %x : memref<4x4xf32>, read %x : memref<4x4xf32>, write %y : memref<4x4xf32>) ints [1, 4, 4, 4, 0, 0, 1, 4, 4, 0, 0, 0, 0, 0, 0, 0]
  }
}

// -----

module {
  plan.program "eval" @counts {
    %x = plan.input "x" : memref<4x4xf32>
    %y = plan.alloc temporary : memref<4x4xf32>
    // expected-error @+1 {{expects the numbers that weft_cpu_gemm takes, but got 2 integers and 1 floats}}
    plan.call "weft_cpu_gemm"(read %x : memref<4x4xf32>, read %x : memref<4x4xf32>, write %y : memref<4x4xf32>) ints [1, 4] floats [0.5]
  }
}

// -----

// A list that is shorter than its count, and a count below zero.
module {
  plan.program "eval" @lists {
    %x = plan.input "x" : memref<f32>
    %n = plan.alloc temporary : memref<f64>
    %b = plan.alloc temporary : memref<i1>
    // expected-error @+1 {{expects the numbers that weft_cpu_norm_and_check takes, but got 3 integers and 1 floats}}
    plan.call "weft_cpu_norm_and_check"(read %x : memref<f32>, write %n : memref<f64>, write %b : memref<i1>) ints [2, 1, 0] floats [2.0]
  }
}

// -----

module {
  plan.program "eval" @negative {
    %x = plan.input "x" : memref<f32>
    %y = plan.alloc temporary : memref<f32>
    // expected-error @+1 {{expects the numbers that weft_cpu_copy takes, but got 2 integers and 0 floats}}
    plan.call "weft_cpu_copy"(read %x : memref<f32>, write %y : memref<f32>) ints [4, -1]
  }
}
