// RUN: weft-opt %s --weft-add-workspaces --split-input-file --verify-diagnostics
// Ranks of a command that the mesh of the module has not.

plan.program "eval" @alone {
  %s = plan.alloc temporary : memref<4xf32>
  %f = plan.alloc temporary : memref<8xf32>
  // expected-error @+1 {{expects a dist.mesh in the module, but there is none}}
  plan.all_gather %s to %f among 2 : memref<4xf32> to memref<8xf32>
}

// -----

// expected-note @+1 {{the mesh}}
dist.mesh @mesh("dp" = 4)
plan.program "eval" @fewer {
  %s = plan.alloc temporary : memref<4xf32>
  %f = plan.alloc temporary : memref<8xf32>
  // expected-error @+1 {{expects ranks of the mesh, but got 2}}
  plan.all_gather %s to %f among 2 : memref<4xf32> to memref<8xf32>
}

// -----

// expected-note @+1 {{the mesh}}
dist.mesh @mesh("dp" = 2)
plan.program "eval" @other {
  %n = plan.alloc temporary : memref<f64>
  %m = plan.alloc temporary : memref<f64>
  // expected-error @+1 {{expects ranks of the mesh, but got 2 along "shard"}}
  plan.all_reduce %n by ["sum"] to %m among 2 along "shard" : memref<f64> to memref<f64>
}

// -----

dist.mesh @mesh("dp" = 2)
plan.program "micro" @native {
  %f = plan.alloc temporary : memref<8xf32>
  %s = plan.alloc temporary : memref<4xf32>
  // expected-error @+1 {{expects an ordered reduction on the CPU, but got a native one}}
  plan.reduce_scatter %f to %s by 2.0, 1.0 native among 2 : memref<8xf32> to memref<4xf32>
}
