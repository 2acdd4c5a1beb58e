// Sums over rows that only gradients read stand in front of the first routine
// behind their rows, so that no kernel ends at them.
// RUN: weft-opt %s --weft-sink-sums --split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-sink-sums --weft-fuse --split-input-file | FileCheck %s --check-prefix=FUSED

// Behind the residual add. Both sums precede the op that reads the first one.
// CHECK-LABEL: weft.program @sink(
// CHECK: %[[D:.*]] = weft.mul
// CHECK-NEXT: %[[M:.*]] = weft.reduce mean %[[D]] dims [1]
// CHECK-NEXT: %[[C:.*]] = weft.sub %[[D]], %[[M]]
// CHECK-NEXT: %[[R:.*]] = weft.add %[[C]], %{{.*}} : tensor<64x32xf32>
// CHECK-NEXT: %[[S:.*]] = weft.reduce sum %[[D]] dims [0]
// CHECK-NEXT: %[[U:.*]] = weft.reduce sum %[[R]] dims [0]
// CHECK-NEXT: %[[T:.*]] = weft.add %[[S]], %{{.*}} : tensor<32xf32>
// CHECK-NEXT: weft.matmul %[[R]],
// FUSED-LABEL: weft.program @sink(
// FUSED: weft.call {{.*}} -> (tensor<64x32xf32>, tensor<64x32xf32>)
// FUSED-NEXT: weft.call {{.*}} -> tensor<32xf32>
// FUSED-NEXT: weft.call {{.*}} -> tensor<32xf32>
// FUSED-NEXT: weft.matmul
weft.program @sink(%g: tensor<64x32xf32> {weft.input = "g"}, %x: tensor<64x32xf32> {weft.input = "x"}, %old: tensor<32xf32> {weft.input = "old"}, %w: tensor<32x32xf32> {weft.input = "w"}) -> (tensor<64x32xf32> {weft.output = "y"}, tensor<32xf32> {weft.output = "t"}, tensor<32xf32> {weft.output = "u"}) attributes {kind = #weft.kind<eval>} {
  %d = weft.mul %g, %x : tensor<64x32xf32>, tensor<64x32xf32>
  %s = weft.reduce sum %d dims [0] : tensor<64x32xf32>
  %t = weft.add %s, %old : tensor<32xf32>, tensor<32xf32>
  %m = weft.reduce mean %d dims [1] {keep_dims} : tensor<64x32xf32>
  %c = weft.sub %d, %m : tensor<64x32xf32>, tensor<64x1xf32>
  %r = weft.add %c, %x : tensor<64x32xf32>, tensor<64x32xf32>
  %y = weft.matmul %r, %w {weft.impl = "gemm"} : tensor<64x32xf32>, tensor<32x32xf32>
  %u = weft.reduce sum %r dims [0] : tensor<64x32xf32>
  weft.return %y, %t, %u : tensor<64x32xf32>, tensor<32xf32>, tensor<32xf32>
}

// -----

// A sum behind the routine that reads its rows moves in front of it, with the
// cast and the reshape that only the sum reads.
// CHECK-LABEL: weft.program @hoist(
// CHECK: %[[N:.*]] = weft.neg
// CHECK-NEXT: weft.reshape %[[N]]
// CHECK-NEXT: weft.cast
// CHECK-NEXT: weft.reduce sum
// CHECK-NEXT: weft.matmul
// CHECK-NEXT: weft.return
weft.program @hoist(%g: tensor<64x32xf16> {weft.input = "g"}, %w: tensor<32x32xf16> {weft.input = "w"}) -> (tensor<64x32xf16> {weft.output = "y"}, tensor<8x32xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %n = weft.neg %g : tensor<64x32xf16>
  %y = weft.matmul %n, %w {weft.impl = "gemm"} : tensor<64x32xf16>, tensor<32x32xf16>
  %r = weft.reshape %n : tensor<64x32xf16> to tensor<8x8x32xf16>
  %f = weft.cast %r : tensor<8x8x32xf16> to tensor<8x8x32xf32>
  %s = weft.reduce sum %f dims [1] : tensor<8x8x32xf32>
  weft.return %y, %s : tensor<64x32xf16>, tensor<8x32xf32>
}

// -----

// The reduction of a bucket depends on the sum and moves with it; it stays
// behind all that it reads.
// CHECK-LABEL: weft.program @bucket(
// CHECK: %[[R:.*]] = weft.add
// CHECK-NEXT: %[[S:.*]] = weft.reduce sum
// CHECK-NEXT: dist.reduce_scatter %[[S]]
// CHECK-NEXT: weft.matmul %[[R]],
dist.mesh @mesh("dp" = 2)
weft.program @bucket(%g: tensor<64x32xf32> {weft.input = "g"}, %w: tensor<32x32xf32> {weft.input = "w"}) -> (tensor<64x32xf32> {weft.output = "y"}, tensor<16xf32> {weft.output = "t"}) attributes {kind = #weft.kind<eval>} {
  %d = weft.neg %g : tensor<64x32xf32>
  %s = weft.reduce sum %d dims [0] : tensor<64x32xf32>
  %t = dist.reduce_scatter %s on @mesh {post = 1.0 : f64, pre = 2.0 : f64} : tensor<32xf32> to tensor<16xf32>
  %r = weft.add %d, %g : tensor<64x32xf32>, tensor<64x32xf32>
  %y = weft.matmul %r, %w {weft.impl = "gemm"} : tensor<64x32xf32>, tensor<32x32xf32>
  weft.return %y, %t : tensor<64x32xf32>, tensor<16xf32>
}

// -----

// A statistic over rows is no gradient: a larger reduction reads it. Sums of
// inputs stay as well.
// CHECK-LABEL: weft.program @stays(
// CHECK: weft.neg
// CHECK-NEXT: weft.reduce mean
// CHECK-NEXT: weft.sub
// CHECK-NEXT: weft.reduce max
// CHECK-NEXT: weft.matmul
// CHECK-NEXT: weft.reduce sum
// CHECK-NEXT: weft.return
weft.program @stays(%g: tensor<64x32xf32> {weft.input = "g"}, %w: tensor<32x32xf32> {weft.input = "w"}) -> (tensor<64x32xf32> {weft.output = "y"}, tensor<64xf32> {weft.output = "m"}, tensor<32xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %n = weft.neg %g : tensor<64x32xf32>
  %a = weft.reduce mean %n dims [0] : tensor<64x32xf32>
  %c = weft.sub %n, %a : tensor<64x32xf32>, tensor<32xf32>
  %m = weft.reduce max %c dims [1] : tensor<64x32xf32>
  %y = weft.matmul %n, %w {weft.impl = "gemm"} : tensor<64x32xf32>, tensor<32x32xf32>
  %s = weft.reduce sum %g dims [0] : tensor<64x32xf32>
  weft.return %y, %m, %s : tensor<64x32xf32>, tensor<64xf32>, tensor<32xf32>
}
