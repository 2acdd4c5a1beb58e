// RUN: weft-interp %s --program=own --each-rank | FileCheck %s

// Each rank keeps its shard of its own value.

dist.mesh @mesh("replica" = 2, "shard" = 2)

// Rank r has [10 r, 10 r + 1, 10 r + 2, 10 r + 3].
// CHECK: rank 0: all = [0] : 1xf32
// CHECK-NEXT: rank 0: half = [0, 1] : 2xf32
// CHECK-NEXT: rank 0: place = 0 : i64
// CHECK-NEXT: rank 1: all = [11] : 1xf32
// CHECK-NEXT: rank 1: half = [12, 13] : 2xf32
// CHECK-NEXT: rank 1: place = 1 : i64
// CHECK-NEXT: rank 2: all = [22] : 1xf32
// CHECK-NEXT: rank 2: half = [20, 21] : 2xf32
// CHECK-NEXT: rank 2: place = 0 : i64
// CHECK-NEXT: rank 3: all = [33] : 1xf32
// CHECK-NEXT: rank 3: half = [32, 33] : 2xf32
// CHECK-NEXT: rank 3: place = 1 : i64
weft.program @own(%rank: tensor<i64> {weft.input = "rank"})
    -> (tensor<1xf32> {weft.output = "all"}, tensor<2xf32> {weft.output = "half"}, tensor<i64> {weft.output = "place"})
    attributes {kind = #weft.kind<eval>} {
  %r = weft.cast %rank : tensor<i64> to tensor<f32>
  %ten = weft.constant dense<10.0> : tensor<f32>
  %steps = weft.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %base = weft.mul %r, %ten : tensor<f32>, tensor<f32>
  %whole = weft.add %steps, %base : tensor<4xf32>, tensor<f32>
  %all = dist.own_slice %whole on @mesh : tensor<4xf32> to tensor<1xf32>
  %half = dist.own_slice %whole on @mesh["shard"] : tensor<4xf32> to tensor<2xf32>
  %place = dist.rank on @mesh["shard"] : tensor<i64>
  weft.return %all, %half, %place : tensor<1xf32>, tensor<2xf32>, tensor<i64>
}
