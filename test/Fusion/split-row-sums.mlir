// Sums of rows that a kernel reduces are cut into the groups of rows that a block
// of it adds up. Other sums are cut as without the option.
// RUN: weft-opt %s --weft-split-sums=sums-in-rows --split-input-file | FileCheck %s

// A block adds up 128 rows of 768 elements. The second stages are in front of
// their readers.
// CHECK-LABEL: weft.program @warps(
// CHECK: %[[D:.*]] = weft.sub
// CHECK: %[[G:.*]] = weft.reshape %{{.*}} : tensor<32x1024x768xf32> to tensor<32x8x128x768xf32>
// CHECK-NEXT: %[[P:.*]] = weft.reduce sum %[[G]] dims [2] : tensor<32x8x128x768xf32>
// CHECK-NEXT: weft.reshape %[[D]]
// CHECK-NEXT: %[[Q:.*]] = weft.reduce sum %{{.*}} dims [2] : tensor<32x8x128x768xf32>
// CHECK-NEXT: %[[S:.*]] = weft.reduce sum %[[P]] dims [0, 1] : tensor<32x8x768xf32>
// CHECK-NEXT: weft.neg %[[S]]
// CHECK-NEXT: %[[T:.*]] = weft.reduce sum %[[Q]] dims [0, 1] : tensor<32x8x768xf32>
// CHECK-NEXT: weft.neg %[[T]]
weft.program @warps(%x: tensor<32x1024x768xf32> {weft.input = "x"}) -> (tensor<32x1024x768xf32> {weft.output = "d"}, tensor<768xf32> {weft.output = "s"}, tensor<768xf32> {weft.output = "t"}) attributes {kind = #weft.kind<eval>} {
  %m = weft.reduce mean %x dims [2] {keep_dims} : tensor<32x1024x768xf32>
  %d = weft.sub %x, %m : tensor<32x1024x768xf32>, tensor<32x1024x1xf32>
  %s = weft.reduce sum %x dims [0, 1] : tensor<32x1024x768xf32>
  %t = weft.reduce sum %d dims [0, 1] : tensor<32x1024x768xf32>
  %u = weft.neg %s : tensor<768xf32>
  %v = weft.neg %t : tensor<768xf32>
  weft.return %d, %u, %v : tensor<32x1024x768xf32>, tensor<768xf32>, tensor<768xf32>
}

// -----

// A block adds up 16 longer rows.
// CHECK-LABEL: weft.program @blocks(
// CHECK: weft.reduce sum %{{.*}} dims [1] : tensor<512x16x1600xf32>
weft.program @blocks(%x: tensor<8192x1600xf16> {weft.input = "x"}) -> (tensor<8192x1600xf16> {weft.output = "d"}, tensor<1600xf16> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %m = weft.reduce max %x dims [1] {keep_dims} : tensor<8192x1600xf16>
  %d = weft.sub %x, %m : tensor<8192x1600xf16>, tensor<8192x1xf16>
  %s = weft.reduce sum %d dims [0] : tensor<8192x1600xf16>
  weft.return %d, %s : tensor<8192x1600xf16>, tensor<1600xf16>
}

// -----

// No number of groups divides the rows; the rows are not reduced; a routine is
// between the rows and the sum.
// CHECK-LABEL: weft.program @columns(
// CHECK: weft.reduce sum %{{.*}} dims [1] : tensor<11x2979x768xf32>
// CHECK: weft.reduce sum %{{.*}} dims [1] : tensor<16x2048x768xf32>
// CHECK: weft.matmul
// CHECK: weft.reduce sum %{{.*}} dims [1] : tensor<16x2048x768xf32>
weft.program @columns(%x: tensor<32771x768xf32> {weft.input = "x"}, %y: tensor<32768x768xf32> {weft.input = "y"}, %z: tensor<32768x768xf32> {weft.input = "z"}, %w: tensor<768x768xf32> {weft.input = "w"}) -> (tensor<32771x768xf32> {weft.output = "d"}, tensor<768xf32> {weft.output = "s"}, tensor<768xf32> {weft.output = "t"}, tensor<32768x768xf32> {weft.output = "u"}, tensor<768xf32> {weft.output = "v"}) attributes {kind = #weft.kind<eval>} {
  %m = weft.reduce mean %x dims [1] {keep_dims} : tensor<32771x768xf32>
  %d = weft.sub %x, %m : tensor<32771x768xf32>, tensor<32771x1xf32>
  %s = weft.reduce sum %d dims [0] : tensor<32771x768xf32>
  %n = weft.neg %y : tensor<32768x768xf32>
  %t = weft.reduce sum %n dims [0] : tensor<32768x768xf32>
  %o = weft.reduce mean %z dims [1] {keep_dims} : tensor<32768x768xf32>
  %e = weft.sub %z, %o : tensor<32768x768xf32>, tensor<32768x1xf32>
  %u = weft.matmul %e, %w {weft.impl = "gemm"} : tensor<32768x768xf32>, tensor<768x768xf32>
  %v = weft.reduce sum %e dims [0] : tensor<32768x768xf32>
  weft.return %d, %s, %t, %u, %v : tensor<32771x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<32768x768xf32>, tensor<768xf32>
}
