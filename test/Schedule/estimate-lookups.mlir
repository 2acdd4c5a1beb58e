// RUN: split-file %s %t
// RUN: weft-opt --weft-estimate=cost-table=%t/costs.toml %t/plan.mlir | FileCheck %s

// A lookup in a table reads one row for each id, at most the table. A gradient that
// is added to a table reads and writes one row for each id; another one writes the
// whole table, and so does one with a flag, in the first micro-batch of a step.

//--- costs.toml
gigabytes_per_second = 1
overhead_us = 0

//--- plan.mlir
plan.program "eval" @eval {
  %table = plan.input "table" : memref<1000x250xf32>
  %small = plan.input "small" : memref<2x250xf32>
  %ids = plan.input "ids" : memref<10xi32>
  %flag = plan.input "flag" : memref<f32>
  %rows = plan.alloc temporary : memref<10x250xf32>
  %low = plan.alloc temporary : memref<10x250xbf16>
  %grad = plan.alloc temporary : memref<1000x250xf32>
  // 10 rows of 1000 bytes twice, and 40 bytes of ids.
  // CHECK: plan.embedding %{{.*}}est_us = 2.004000e+01
  plan.embedding %table[%ids] -> %rows : memref<1000x250xf32>[memref<10xi32>] -> memref<10x250xf32>
  // The table has 2000 bytes.
  // CHECK: plan.embedding %{{.*}}est_us = 1.204000e+01
  plan.embedding %small[%ids] -> %rows : memref<2x250xf32>[memref<10xi32>] -> memref<10x250xf32>
  // CHECK: plan.embedding_grad %{{.*}}est_us = 1.010040e+03
  plan.embedding_grad %rows[%ids] -> %grad : memref<10x250xf32>[memref<10xi32>] -> memref<1000x250xf32>
  // CHECK: plan.embedding_grad %{{.*}}est_us = 3.004000e+01
  plan.embedding_grad %rows[%ids] -> %grad accumulate : memref<10x250xf32>[memref<10xi32>] -> memref<1000x250xf32>
  // Clears the table: 1000000 bytes, and 4 of the flag.
  // CHECK: plan.embedding_grad %{{.*}}est_us = 1010.044
  plan.embedding_grad %rows[%ids] -> %grad accumulate(%flag : memref<f32>) : memref<10x250xf32>[memref<10xi32>] -> memref<1000x250xf32>
  // Rows of the table's type.
  // CHECK: plan.embedding_grad %{{.*}}est_us = 2.504000e+01
  plan.embedding_grad %low[%ids] -> %grad accumulate : memref<10x250xbf16>[memref<10xi32>] -> memref<1000x250xf32>
}
