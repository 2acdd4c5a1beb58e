// RUN: split-file %s %t
// RUN: weft-opt --weft-choose-reductions %t/replicas.mlir | FileCheck %t/replicas.mlir --check-prefix=AUTO
// RUN: weft-opt --weft-choose-reductions=reduction=native %t/replicas.mlir | FileCheck %t/replicas.mlir --check-prefix=NATIVE
// RUN: weft-opt --weft-choose-reductions=reduction=native %t/replicas.mlir | weft-opt --weft-choose-reductions=reduction=ordered | FileCheck %t/replicas.mlir --check-prefix=ORDERED
// RUN: weft-opt --weft-choose-reductions=cluster=%t/pairs.toml %t/replicas.mlir | FileCheck %t/replicas.mlir --check-prefix=AUTO
// RUN: weft-opt --weft-choose-reductions=cluster=%t/fours.toml %t/replicas.mlir | FileCheck %t/replicas.mlir --check-prefix=ORDERED
// RUN: weft-opt --weft-choose-reductions=cluster=%t/ones.toml %t/replicas.mlir | FileCheck %t/replicas.mlir --check-prefix=NATIVE
// RUN: weft-opt --weft-choose-reductions %t/row.mlir | FileCheck %t/row.mlir --check-prefix=AUTO
// RUN: weft-opt --weft-choose-reductions=cluster=%t/pairs.toml %t/row.mlir | FileCheck %t/row.mlir --check-prefix=NODES
// RUN: not weft-opt --weft-choose-reductions=reduction=fast %t/row.mlir 2>&1 | FileCheck %t/row.mlir --check-prefix=WRONG
// RUN: not weft-opt --weft-choose-reductions=cluster=%t/none.toml %t/row.mlir 2>&1 | FileCheck %t/row.mlir --check-prefix=NONE

// Slices lie on ranks 0 and 1, or 2 and 3. The ranks of a slice are replicas.

//--- pairs.toml
ranks_per_node = 2
//--- fours.toml
ranks_per_node = 4
//--- ones.toml
ranks_per_node = 1

//--- replicas.mlir
dist.mesh @mesh("replica" = 2, "shard" = 2)
plan.program "micro" @micro {
  %f = plan.alloc temporary : memref<8xf32>
  %s = plan.alloc temporary : memref<4xf32>
  %r = plan.alloc temporary : memref<2xf32>
  // AUTO: plan.reduce_scatter {{.*}} by 2.000000e+00, 1.000000e+00 among 2 along "shard"
  // ORDERED: plan.reduce_scatter {{.*}} by 2.000000e+00, 1.000000e+00 among 2 along "shard"
  // NATIVE: plan.reduce_scatter {{.*}} by 2.000000e+00, 1.000000e+00 native among 2 along "shard"
  plan.reduce_scatter %f to %s by 2.0, 1.0 among 2 along "shard" : memref<8xf32> to memref<4xf32>
  // AUTO: plan.reduce_scatter {{.*}} by 2.000000e+00, 1.000000e+00 native among 2 along "replica"
  // ORDERED: plan.reduce_scatter {{.*}} by 2.000000e+00, 1.000000e+00 among 2 along "replica"
  // NATIVE: plan.reduce_scatter {{.*}} by 2.000000e+00, 1.000000e+00 native among 2 along "replica"
  plan.reduce_scatter %s to %r by 2.0, 1.0 among 2 along "replica" : memref<4xf32> to memref<2xf32>
}

//--- row.mlir
dist.mesh @mesh("dp" = 4)
plan.program "micro" @micro {
  %f = plan.alloc temporary : memref<8xf32>
  %s = plan.alloc temporary : memref<2xf32>
  // AUTO: plan.reduce_scatter {{.*}} by 2.000000e+00, 2.000000e+00 among 4
  // NODES: plan.reduce_scatter {{.*}} by 2.000000e+00, 2.000000e+00 native among 4
  plan.reduce_scatter %f to %s by 2.0, 2.0 among 4 : memref<8xf32> to memref<2xf32>
}
// WRONG: for the --reduction option: Cannot find option named 'fast'!
// NONE: none.toml
