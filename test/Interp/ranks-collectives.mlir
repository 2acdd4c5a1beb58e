// RUN: weft-interp %s --program=two_axes --each-rank | FileCheck %s
// RUN: weft-interp %s --program=numbers --each-rank | FileCheck %s --check-prefix=NUMBERS
// RUN: weft-interp %s --program=order --each-rank --mode=f32 | FileCheck %s --check-prefix=ORDER
// RUN: weft-interp %s --program=order --each-rank | FileCheck %s --check-prefix=WIDE
// RUN: weft-interp %s --program=region --each-rank | FileCheck %s --check-prefix=REGION
// RUN: weft-interp %s --program=given --set rank2/x=5 --set x=2 --each-rank | FileCheck %s --check-prefix=GIVEN
// RUN: weft-interp %s --program=given --set rank2/x=5 --set x=2 --outputs=%t.out | FileCheck %s --check-prefix=FIRST
// RUN: weft-interp %s --program=look --inputs=%t.out --each-rank | FileCheck %s --check-prefix=READ

// Four ranks evaluate each op in turn; a collective has the operands of all of
// them: of all ranks or of the ranks that differ along one axis.

dist.mesh @mesh("replica" = 2, "shard" = 2)

// Rank r holds [10 r, 10 r + 1]. Ranks 0 and 1, and ranks 2 and 3 differ along
// "shard"; ranks 0 and 2, and ranks 1 and 3 along "replica".
// CHECK: rank 0: all = [0, 1, 10, 11, 20, 21, 30, 31] : 8xf32
// CHECK-NEXT: rank 0: mean = [5] : 1xf32
// CHECK-NEXT: rank 0: replica = [0, 1, 20, 21] : 4xf32
// CHECK-NEXT: rank 0: shard = [0, 1, 10, 11] : 4xf32
// CHECK-NEXT: rank 1: all = [0, 1, 10, 11, 20, 21, 30, 31] : 8xf32
// CHECK-NEXT: rank 1: mean = [25] : 1xf32
// CHECK-NEXT: rank 1: replica = [10, 11, 30, 31] : 4xf32
// CHECK-NEXT: rank 1: shard = [0, 1, 10, 11] : 4xf32
// CHECK-NEXT: rank 2: all
// CHECK-NEXT: rank 2: mean = [6] : 1xf32
// CHECK-NEXT: rank 2: replica = [0, 1, 20, 21] : 4xf32
// CHECK-NEXT: rank 2: shard = [20, 21, 30, 31] : 4xf32
// CHECK-NEXT: rank 3: all
// CHECK-NEXT: rank 3: mean = [26] : 1xf32
// CHECK-NEXT: rank 3: replica = [10, 11, 30, 31] : 4xf32
// CHECK-NEXT: rank 3: shard = [20, 21, 30, 31] : 4xf32
weft.program @two_axes(%rank: tensor<i64> {weft.input = "rank"})
    -> (tensor<8xf32> {weft.output = "all"}, tensor<1xf32> {weft.output = "mean"},
        tensor<4xf32> {weft.output = "replica"}, tensor<4xf32> {weft.output = "shard"})
    attributes {kind = #weft.kind<eval>} {
  %r = weft.cast %rank : tensor<i64> to tensor<f32>
  %ten = weft.constant dense<10.0> : tensor<f32>
  %steps = weft.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %base = weft.mul %r, %ten : tensor<f32>, tensor<f32>
  %own = weft.add %steps, %base : tensor<2xf32>, tensor<f32>
  %all = dist.all_gather %own on @mesh : tensor<2xf32> to tensor<8xf32>
  %replica = dist.all_gather %own on @mesh["replica"] : tensor<2xf32> to tensor<4xf32>
  %shard = dist.all_gather %own on @mesh["shard"] : tensor<2xf32> to tensor<4xf32>
  // The mean of [0, 1, 20, 21] and [10, 11, 30, 31] is [5, 6, 25, 26]: ranks 0 and
  // 2 have [5, 6] of it and share that, ranks 1 and 3 [25, 26].
  %half = dist.reduce_scatter %replica on @mesh["shard"] {pre = 2.0 : f64, post = 1.0 : f64} : tensor<4xf32> to tensor<2xf32>
  %mean = dist.reduce_scatter %half on @mesh["replica"] {pre = 2.0 : f64, post = 1.0 : f64} : tensor<2xf32> to tensor<1xf32>
  weft.return %all, %mean, %replica, %shard : tensor<8xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>
}

// Numbers 0, 1, 2, 3 and flags of rank 2 alone; a NaN of rank 1 stays.
// NUMBERS: rank 0: any = 1 : i1
// NUMBERS-NEXT: rank 0: max = 3 : f64
// NUMBERS-NEXT: rank 0: nan = nan : f64
// NUMBERS-NEXT: rank 0: none = 0 : i1
// NUMBERS-NEXT: rank 0: pair = 4 : f64
// NUMBERS-NEXT: rank 0: sum = 6 : f64
// NUMBERS: rank 3: any = 1 : i1
// NUMBERS-NEXT: rank 3: max = 3 : f64
// NUMBERS-NEXT: rank 3: nan = nan : f64
// NUMBERS-NEXT: rank 3: none = 0 : i1
// NUMBERS-NEXT: rank 3: pair = 4 : f64
// NUMBERS-NEXT: rank 3: sum = 6 : f64
weft.program @numbers(%rank: tensor<i64> {weft.input = "rank"})
    -> (tensor<f64> {weft.output = "sum"}, tensor<f64> {weft.output = "max"}, tensor<i1> {weft.output = "any"},
        tensor<i1> {weft.output = "none"}, tensor<f64> {weft.output = "nan"}, tensor<f64> {weft.output = "pair"})
    attributes {kind = #weft.kind<eval>} {
  %r = weft.cast %rank : tensor<i64> to tensor<f64>
  %two = weft.constant dense<2.0> : tensor<f64>
  %one = weft.constant dense<1.0> : tensor<f64>
  %nan = weft.constant dense<0x7FF8000000000000> : tensor<f64>
  %big = weft.constant dense<9.0> : tensor<f64>
  %is_two = weft.compare eq %r, %two : tensor<f64>, tensor<f64>
  %is_one = weft.compare eq %r, %one : tensor<f64>, tensor<f64>
  %is_big = weft.compare eq %r, %big : tensor<f64>, tensor<f64>
  %odd = weft.select %is_one, %nan, %r : tensor<i1>, tensor<f64>, tensor<f64>
  %sum, %max, %any, %none, %with_nan = dist.all_reduce %r, %r, %is_two, %is_big, %odd by [sum, max, or, or, max] on @mesh
      : tensor<f64>, tensor<f64>, tensor<i1>, tensor<i1>, tensor<f64>
  // 0 + 2 of ranks 0 and 2, 1 + 3 of the others.
  %along = dist.all_reduce %r by [sum] on @mesh["replica"] : tensor<f64>
  %pair = dist.all_reduce %along by [max] on @mesh : tensor<f64>
  weft.return %sum, %max, %any, %none, %with_nan, %pair
      : tensor<f64>, tensor<f64>, tensor<i1>, tensor<i1>, tensor<f64>, tensor<f64>
}

// Divided by 2 they are 2^24 and three ones, the large one of rank 0 in the first
// element, of rank 3 in the second. Sums are in f32 and in the order of ranks: 2^24
// and three ones stay 2^24, three ones and 2^24 round to 2^24 + 4. In f64 both are
// 2^24 + 3.
// ORDER: rank 0: slice = [8388608] : 1xf32
// ORDER: rank 1: slice = [8388610] : 1xf32
// WIDE: rank 0: slice = [8388609.5] : 1xf32
// WIDE: rank 1: slice = [8388609.5] : 1xf32
weft.program @order(%rank: tensor<i64> {weft.input = "rank"}) -> (tensor<1xf32> {weft.output = "slice"})
    attributes {kind = #weft.kind<eval>} {
  %r = weft.cast %rank : tensor<i64> to tensor<f32>
  %owner = weft.constant dense<[0.0, 3.0, 0.0, 0.0]> : tensor<4xf32>
  %big = weft.constant dense<33554432.0> : tensor<f32>
  %two = weft.constant dense<2.0> : tensor<f32>
  %mine = weft.compare eq %owner, %r : tensor<4xf32>, tensor<f32>
  %full = weft.select %mine, %big, %two : tensor<4xi1>, tensor<f32>, tensor<f32>
  %slice = dist.reduce_scatter %full on @mesh {pre = 2.0 : f64, post = 2.0 : f64} : tensor<4xf32> to tensor<1xf32>
  weft.return %slice : tensor<1xf32>
}

// REGION: rank 0: y = [0, 1, 2, 3] : 4xf32
// REGION: rank 3: y = [0, 1, 2, 3] : 4xf32
weft.program @region(%rank: tensor<i64> {weft.input = "rank"}) -> (tensor<4xf32> {weft.output = "y"})
    attributes {kind = #weft.kind<eval>} {
  %y = weft.autocast attributes {dtype = bf16} {
    %r = weft.cast %rank : tensor<i64> to tensor<f32>
    %own = weft.reshape %r : tensor<f32> to tensor<1xf32>
    %all = dist.all_gather %own on @mesh : tensor<1xf32> to tensor<4xf32>
    weft.yield %all : tensor<4xf32>
  } : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// GIVEN: rank 0: y = 2 : f32
// GIVEN-NEXT: rank 1: y = 2 : f32
// GIVEN-NEXT: rank 2: y = 5 : f32
// GIVEN-NEXT: rank 3: y = 2 : f32
// FIRST: y = 2 : f32
// FIRST-NOT: y
weft.program @given(%x: tensor<f32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "y"})
    attributes {kind = #weft.kind<eval>} {
  weft.return %x : tensor<f32>
}

// READ: rank 1: z = 2 : f32
// READ-NEXT: rank 2: z = 5 : f32
weft.program @look(%x: tensor<f32> {weft.input = "y"}) -> (tensor<f32> {weft.output = "z"})
    attributes {kind = #weft.kind<eval>} {
  weft.return %x : tensor<f32>
}
