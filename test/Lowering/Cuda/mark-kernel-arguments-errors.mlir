// RUN: weft-opt %s --weft-mark-kernel-arguments --verify-diagnostics

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op expects an argument for each of the 2 buffers of a launch, but got 1}}
  gpu.func @k(%x: !llvm.ptr<1>) kernel {
    gpu.return
  }
}
plan.program "eval" @eval {
  %x = plan.input "x" : memref<4xf32>
  %y = plan.alloc temporary : memref<4xf32>
  plan.launch @k ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
}
