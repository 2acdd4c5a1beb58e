// RUN: weft-opt %s --weft-mark-kernel-arguments | FileCheck %s
// A thread may load from an output what another thread has stored there, so the
// pass asks the function too.

gpu.module @kernels {
  // After the barrier the thread loads its neighbour's element. The last output is
  // stored to alone.
  // CHECK: gpu.func @k_meets(%{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{[a-z0-9]+}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1> {llvm.noalias}) kernel
  gpu.func @k_meets(%x: !llvm.ptr<1>, %shared: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel {
    %one = arith.constant 1 : i64
    %thread = gpu.thread_id x
    %i = arith.index_cast %thread : index to i64
    %next = arith.xori %i, %one : i64
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %own = llvm.getelementptr %shared[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %other = llvm.getelementptr %shared[%next] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %value = llvm.load %from : !llvm.ptr<1> -> f32
    llvm.store %value, %own : f32, !llvm.ptr<1>
    gpu.barrier
    %neighbour = llvm.load %other : !llvm.ptr<1> -> f32
    llvm.store %neighbour, %to : f32, !llvm.ptr<1>
    gpu.return
  }

  // An input that is stored to is not read-only, one that is passed on neither. A
  // pointer that is selected is one of two.
  // CHECK: gpu.func @k_stores(%{{[a-z0-9]+}}: !llvm.ptr<1>, %{{[a-z0-9]+}}: !llvm.ptr<1>, %{{[a-z0-9]+}}: !llvm.ptr<1>) kernel
  gpu.func @k_stores(%x: !llvm.ptr<1>, %passed: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel {
    %here = arith.constant true
    %either = arith.select %here, %x, %y : !llvm.ptr<1>
    %value = llvm.load %either : !llvm.ptr<1> -> f32
    llvm.store %value, %either : f32, !llvm.ptr<1>
    llvm.call @use(%passed) : (!llvm.ptr<1>) -> ()
    gpu.return
  }
  llvm.func @use(!llvm.ptr<1>)
}
plan.program "eval" @eval {
  %x = plan.input "x" : memref<64xf32>
  %y = plan.input "y" : memref<64xf32>
  %u = plan.alloc temporary : memref<64xf32>
  %v = plan.alloc temporary : memref<64xf32>
  plan.launch @k_meets ins(%x : memref<64xf32>) outs(%u, %v : memref<64xf32>, memref<64xf32>)
  plan.launch @k_stores ins(%x, %y : memref<64xf32>, memref<64xf32>) outs(%v : memref<64xf32>)
}
