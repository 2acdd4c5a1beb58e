// RUN: split-file %s %t
// RUN: not weft-interp %t/ids.mlir --set tokens=0 --set rank1/tokens=7 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not weft-interp %t/axis.mlir 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not weft-interp %t/ranks.mlir 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not weft-interp %t/alone.mlir 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not weft-interp --compare %t/ids.mlir %t/ranks.mlir 2>&1 | FileCheck %s --check-prefix=MESHES

// An error of one rank says which; a plan may say another number of ranks than
// the mesh.

// RANK: ids.mlir:5:8: error: 'weft.embedding' op expects ids in [0, 4), but got 7
// RANK: ids.mlir:5:8: remark: on rank 1
// AXIS: axis.mlir:6:3: error: 'plan.all_gather' op expects an axis of the mesh, but got "tp"
// RANKS: ranks.mlir:6:3: error: 'plan.all_gather' op expects the ranks of the mesh, 3, but got 2
// ALONE: alone.mlir:5:3: error: 'plan.all_gather' op expects the ranks of the mesh, 1, but got 2
// MESHES: ranks.mlir:1:1: error: expects the ranks of the first module, 2, but got 3

//--- ids.mlir
dist.mesh @mesh("dp" = 2)
weft.program @eval(%i: tensor<2xi32> {weft.input = "tokens"}) -> (tensor<2x3xf32> {weft.output = "r"}) attributes {kind = #weft.kind<eval>} {
  %t = weft.constant dense<0.0> : tensor<4x3xf32>
  // The line below is the one.
  %r = weft.embedding %t, %i : tensor<4x3xf32>, tensor<2xi32>
  weft.return %r : tensor<2x3xf32>
}

//--- axis.mlir
dist.mesh @mesh("dp" = 2)
plan.program "eval" @eval {
  %x = plan.input "x" : memref<2xf32>
  %y = plan.alloc temporary : memref<4xf32>
  // The line below is the one.
  plan.all_gather %x to %y among 2 along "tp" : memref<2xf32> to memref<4xf32>
}

//--- ranks.mlir
dist.mesh @mesh("dp" = 3)
plan.program "eval" @eval {
  %x = plan.input "x" : memref<2xf32>
  %y = plan.alloc temporary : memref<4xf32>
  // The line below is the one.
  plan.all_gather %x to %y among 2 : memref<2xf32> to memref<4xf32>
}

//--- alone.mlir
plan.program "eval" @eval {
  %x = plan.input "x" : memref<2xf32>
  %y = plan.alloc temporary : memref<4xf32>
  // The line below is the one.
  plan.all_gather %x to %y among 2 : memref<2xf32> to memref<4xf32>
}
