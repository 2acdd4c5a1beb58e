// RUN: split-file %s %t
// RUN: not weft-interp %t/divisors.mlir --set tokens=1 --set rank1/tokens=0 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not weft-interp %t/axis.mlir 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not weft-interp %t/ranks.mlir 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not weft-interp %t/alone.mlir 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not weft-interp --compare %t/divisors.mlir %t/ranks.mlir 2>&1 | FileCheck %s --check-prefix=MESHES

// An error of one rank says which; a plan may say another number of ranks than
// the mesh.

// RANK: divisors.mlir:4:8: error: 'weft.div' op expects integer divisors other than 0
// RANK: divisors.mlir:4:8: remark: on rank 1
// AXIS: axis.mlir:6:3: error: 'plan.all_gather' op expects an axis of the mesh, but got "tp"
// RANKS: ranks.mlir:6:3: error: 'plan.all_gather' op expects the ranks of the mesh, 3, but got 2
// ALONE: alone.mlir:5:3: error: 'plan.all_gather' op expects the ranks of the mesh, 1, but got 2
// MESHES: ranks.mlir:1:1: error: expects the ranks of the first module, 2, but got 3

//--- divisors.mlir
dist.mesh @mesh("dp" = 2)
weft.program @eval(%i: tensor<2xi32> {weft.input = "tokens"}) -> (tensor<2xi32> {weft.output = "r"}) attributes {kind = #weft.kind<eval>} {
  // The line below is the one.
  %r = weft.div %i, %i : tensor<2xi32>, tensor<2xi32>
  weft.return %r : tensor<2xi32>
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
