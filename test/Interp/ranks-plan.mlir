// DEFINE: %{set} = --set rank0/x=1 --set rank1/x=2 --set rank2/x=3 --set rank3/x=4 --set rank0/n=1 --set rank1/n=2 --set rank2/n=3 --set rank3/n=4 --set flag=0 --set rank3/flag=1
// RUN: weft-interp %s %{set} --program=eval --each-rank | FileCheck %s
// RUN: weft-interp %s %{set} --program=eval --each-rank --mode=f32 | FileCheck %s
// RUN: weft-interp %s %{set} --program=eval --save-state=%t.state --print=off
// RUN: weft-interp %S/Inputs/look-at-w.mlir --state=%t.state | FileCheck %s --check-prefix=WHOLE
// RUN: weft-interp %s --program=look --state=%t.state --each-rank | FileCheck %s --check-prefix=SLICES

// Commands of a plan take turns as ops do: the collectives of ops and commands are
// the same functions. Rank r of four writes r + 1 to its slice of w.

dist.mesh @mesh("replica" = 2, "shard" = 2)
plan.state param @w.flat : memref<2xf32> {slices = 4, segments = [#plan.segment<@w [7] at 0 to 7>]}

// CHECK: rank 0: all = [1, 1, 2, 2, 3, 3, 4, 4] : 8xf32
// CHECK-NEXT: rank 0: any = 0 : i1
// CHECK-NEXT: rank 0: largest = 2 : f64
// CHECK-NEXT: rank 0: mean = [1.5, 1.5] : 2xf32
// CHECK-NEXT: rank 0: @w.flat = [1, 1] : 2xf32
// CHECK: rank 2: any = 1 : i1
// CHECK-NEXT: rank 2: largest = 4 : f64
// CHECK-NEXT: rank 2: mean = [1.5, 1.5] : 2xf32
// CHECK: rank 3: any = 1 : i1
// CHECK-NEXT: rank 3: largest = 4 : f64
// CHECK-NEXT: rank 3: mean = [3.5, 3.5] : 2xf32
// CHECK-NEXT: rank 3: @w.flat = [4, 4] : 2xf32
// WHOLE: w = [1, 1, 2, 2, 3, 3, 4] : 7xf32
plan.program "eval" @eval {
  %x = plan.input "x" : memref<2xf32>
  %n = plan.input "n" : memref<f64>
  %flag = plan.input "flag" : memref<i1>
  %w = plan.use @w.flat : memref<2xf32>
  %largest = plan.alloc temporary : memref<f64>
  %any = plan.alloc temporary : memref<i1>
  %all = plan.alloc temporary : memref<8xf32>
  %pair = plan.alloc temporary : memref<4xf32>
  %mean = plan.alloc temporary : memref<2xf32>
  plan.output "all" %all : memref<8xf32>
  plan.output "any" %any : memref<i1>
  plan.output "largest" %largest : memref<f64>
  plan.output "mean" %mean : memref<2xf32>
  plan.copy %x to %w : memref<2xf32> to memref<2xf32>
  plan.all_gather %w to %all among 4 : memref<2xf32> to memref<8xf32>
  // [1, 1, 3, 3] on ranks 0 and 2, [2, 2, 4, 4] on the others.
  plan.all_gather %w to %pair among 2 along "replica" : memref<2xf32> to memref<4xf32>
  plan.reduce_scatter %pair to %mean by 2.0, 1.0 among 2 along "shard" : memref<4xf32> to memref<2xf32>
  plan.all_reduce %n, %flag by ["max", "or"] to %largest, %any among 2 along "shard" : memref<f64>, memref<i1> to memref<f64>, memref<i1>
}

// SLICES: rank 0: w = [1, 1] : 2xf32
// SLICES-NEXT: rank 1: w = [2, 2] : 2xf32
// SLICES-NEXT: rank 2: w = [3, 3] : 2xf32
// SLICES-NEXT: rank 3: w = [4, 0] : 2xf32
plan.program "logits" @look {
  %w = plan.use @w.flat : memref<2xf32>
  plan.output "w" %w : memref<2xf32>
}
