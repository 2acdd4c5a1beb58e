// RUN: split-file %s %t
// RUN: weft-interp %t/two.mlir --program=rows --inputs=random:3 > %t/two.txt
// RUN: weft-interp %t/one.mlir --program=rows --inputs=random:3 > %t/one.txt
// RUN: diff %t/two.txt %t/one.txt
// RUN: weft-interp %t/one.mlir --program=rows --inputs=random:4 > %t/other.txt
// RUN: not diff %t/two.txt %t/other.txt
// RUN: weft-interp %t/two.mlir --program=fixed --inputs=random:3 --each-rank | FileCheck %s

// Two ranks with two rows each have the inputs of one rank with four: rank 1 goes
// on where rank 0 ends, and knows the number of its first row. What passes add is
// the same on all ranks.

// CHECK: rank 0: lr = 0.001 : f64
// CHECK-NEXT: rank 0: rank = 0 : i64
// CHECK-NEXT: rank 0: rng = [3, 0] : 2xi64
// CHECK-NEXT: rank 0: seed = 3 : i64
// CHECK-NEXT: rank 0: x
// CHECK-NEXT: rank 1: lr = 0.001 : f64
// CHECK-NEXT: rank 1: rank = 1 : i64
// CHECK-NEXT: rank 1: rng = [3, 2] : 2xi64
// CHECK-NEXT: rank 1: seed = 3 : i64

//--- two.mlir
dist.mesh @mesh("dp" = 2)
weft.program @rows(%x: tensor<2x3xf32> {weft.input = "x"}, %n: tensor<2xi32> {weft.input = "n"})
    -> (tensor<12xf32> {weft.output = "x"}, tensor<4xf32> {weft.output = "n"}) attributes {kind = #weft.kind<eval>} {
  %flat = weft.reshape %x : tensor<2x3xf32> to tensor<6xf32>
  %all = dist.all_gather %flat on @mesh : tensor<6xf32> to tensor<12xf32>
  %f = weft.cast %n : tensor<2xi32> to tensor<2xf32>
  %numbers = dist.all_gather %f on @mesh : tensor<2xf32> to tensor<4xf32>
  weft.return %all, %numbers : tensor<12xf32>, tensor<4xf32>
}
weft.program @fixed(%x: tensor<2x3xf32> {weft.input = "x"}, %lr: tensor<f64> {weft.input = "lr"}, %rank: tensor<i64> {weft.input = "rank"},
                    %rng: tensor<2xi64> {weft.input = "rng"}, %seed: tensor<i64> {weft.input = "seed"})
    -> (tensor<2x3xf32> {weft.output = "x"}, tensor<f64> {weft.output = "lr"}, tensor<i64> {weft.output = "rank"},
        tensor<2xi64> {weft.output = "rng"}, tensor<i64> {weft.output = "seed"}) attributes {kind = #weft.kind<eval>} {
  weft.return %x, %lr, %rank, %rng, %seed : tensor<2x3xf32>, tensor<f64>, tensor<i64>, tensor<2xi64>, tensor<i64>
}

//--- one.mlir
weft.program @rows(%x: tensor<4x3xf32> {weft.input = "x"}, %n: tensor<4xi32> {weft.input = "n"})
    -> (tensor<12xf32> {weft.output = "x"}, tensor<4xf32> {weft.output = "n"}) attributes {kind = #weft.kind<eval>} {
  %flat = weft.reshape %x : tensor<4x3xf32> to tensor<12xf32>
  %f = weft.cast %n : tensor<4xi32> to tensor<4xf32>
  weft.return %flat, %f : tensor<12xf32>, tensor<4xf32>
}
