// Sums over groups of rows in the kernel that computes or reduces these rows, and
// one kernel that adds up the groups of all its sums. The CPU has a kernel of
// columns for each.
// RUN: weft-opt %s --weft-fuse=sums-in-rows --split-input-file -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: weft-opt %s --weft-fuse --split-input-file | FileCheck %s --check-prefix=CPU
// RUN: weft-opt %s --weft-fuse="sums-in-rows widen-in-readers" --split-input-file | FileCheck %s --check-prefix=WIDE

// The first sum is of rows that the kernel reduces, the second of its results.
// CHECK-LABEL: weft.program @adjoint(
// CHECK: %[[R:.*]]:3 = weft.call @[[ROWS:k_[0-9a-f]*]](
// CHECK: %[[S:.*]]:2 = weft.call @[[SUMS:k_[0-9a-f]*]](
// CHECK-NEXT: weft.return %[[R]]#0, %[[S]]#0, %[[S]]#1
// CHECK: weft.kernel @[[ROWS]]({{.*}}) -> (tensor<64x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) rows [16, 4, 32] over [2] sums [1] inplace {{\[\[}}0], [], []] {
// CHECK: weft.kernel @[[SUMS]]({{.*}}) -> (tensor<32xf32>, tensor<32xf32>) columns [16, 32] over [0]
// CPU-NOT: sums [
weft.program @adjoint(%x: tensor<64x32xf32> {weft.input = "x"}, %old: tensor<32xf32> {weft.input = "old"}) -> (tensor<64x32xf32> {weft.output = "y"}, tensor<32xf32> {weft.output = "s"}, tensor<32xf32> {weft.output = "t"}) attributes {kind = #weft.kind<eval>} {
  %m = weft.reduce mean %x dims [1] {keep_dims} : tensor<64x32xf32>
  %d = weft.sub %x, %m : tensor<64x32xf32>, tensor<64x1xf32>
  %gx = weft.reshape %x : tensor<64x32xf32> to tensor<16x4x32xf32>
  %px = weft.reduce sum %gx dims [1] : tensor<16x4x32xf32>
  %gd = weft.reshape %d : tensor<64x32xf32> to tensor<16x4x32xf32>
  %pd = weft.reduce sum %gd dims [1] : tensor<16x4x32xf32>
  %sx = weft.reduce sum %px dims [0] : tensor<16x32xf32>
  %s = weft.add %sx, %old : tensor<32xf32>, tensor<32xf32>
  %t = weft.reduce sum %pd dims [0] : tensor<16x32xf32>
  weft.return %d, %s, %t : tensor<64x32xf32>, tensor<32xf32>, tensor<32xf32>
}

// -----

// Too few groups for blocks, more rows than a block adds up, and a maximum: each
// has a kernel of columns.
// CHECK-LABEL: weft.program @apart(
// CHECK-NOT: sums [
// CHECK: columns [16, 4, 32] over [1]
weft.program @apart(%x: tensor<60x32xf32> {weft.input = "x"}, %y: tensor<4096x32xf32> {weft.input = "y"}, %z: tensor<64x32xf32> {weft.input = "z"}) -> (tensor<60x32xf32> {weft.output = "a"}, tensor<15x32xf32> {weft.output = "b"}, tensor<4096x32xf32> {weft.output = "c"}, tensor<16x32xf32> {weft.output = "d"}, tensor<64x32xf32> {weft.output = "e"}, tensor<16x32xf32> {weft.output = "f"}) attributes {kind = #weft.kind<eval>} {
  %mx = weft.reduce mean %x dims [1] {keep_dims} : tensor<60x32xf32>
  %a = weft.sub %x, %mx : tensor<60x32xf32>, tensor<60x1xf32>
  %gx = weft.reshape %x : tensor<60x32xf32> to tensor<15x4x32xf32>
  %b = weft.reduce sum %gx dims [1] : tensor<15x4x32xf32>
  %my = weft.reduce mean %y dims [1] {keep_dims} : tensor<4096x32xf32>
  %c = weft.sub %y, %my : tensor<4096x32xf32>, tensor<4096x1xf32>
  %gy = weft.reshape %y : tensor<4096x32xf32> to tensor<16x256x32xf32>
  %d = weft.reduce sum %gy dims [1] : tensor<16x256x32xf32>
  %mz = weft.reduce mean %z dims [1] {keep_dims} : tensor<64x32xf32>
  %e = weft.sub %z, %mz : tensor<64x32xf32>, tensor<64x1xf32>
  %gz = weft.reshape %z : tensor<64x32xf32> to tensor<16x4x32xf32>
  %f = weft.reduce max %gz dims [1] : tensor<16x4x32xf32>
  weft.return %a, %b, %c, %d, %e, %f : tensor<60x32xf32>, tensor<15x32xf32>, tensor<4096x32xf32>, tensor<16x32xf32>, tensor<64x32xf32>, tensor<16x32xf32>
}

// -----

// A sum over other rows than those of the groups reads the f16 values: its cast
// does not stay in the kernel of the rows, which would store a copy in f32.
// WIDE-LABEL: weft.program @positions(
// WIDE: %[[R:.*]]:2 = weft.call {{.*}} -> (tensor<32x4x32xf16>, tensor<32x32xf32>)
// WIDE: weft.call @{{.*}}(%[[R]]#0) : (tensor<32x4x32xf16>) -> tensor<4x32xf32>
weft.program @positions(%x: tensor<32x4x32xf16> {weft.input = "x"}) -> (tensor<32x4x32xf16> {weft.output = "y"}, tensor<32x32xf32> {weft.output = "s"}, tensor<4x32xf32> {weft.output = "p"}) attributes {kind = #weft.kind<eval>} {
  %m = weft.reduce max %x dims [2] {keep_dims} : tensor<32x4x32xf16>
  %d = weft.sub %x, %m : tensor<32x4x32xf16>, tensor<32x4x1xf16>
  %c = weft.cast %d : tensor<32x4x32xf16> to tensor<32x4x32xf32>
  %s = weft.reduce sum %c dims [1] : tensor<32x4x32xf32>
  %e = weft.cast %d : tensor<32x4x32xf16> to tensor<32x4x32xf32>
  %p = weft.reduce sum %e dims [0] : tensor<32x4x32xf32>
  weft.return %d, %s, %p : tensor<32x4x32xf16>, tensor<32x32xf32>, tensor<4x32xf32>
}

// -----

// A sum in f64 has a kernel of columns.
// CHECK-LABEL: weft.program @double(
// CHECK-NOT: sums [
// CHECK: columns [16, 4, 32] over [1]
weft.program @double(%x: tensor<64x32xf64> {weft.input = "x"}) -> (tensor<64x32xf64> {weft.output = "y"}, tensor<16x32xf64> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %m = weft.reduce mean %x dims [1] {keep_dims} : tensor<64x32xf64>
  %d = weft.sub %x, %m : tensor<64x32xf64>, tensor<64x1xf64>
  %g = weft.reshape %x : tensor<64x32xf64> to tensor<16x4x32xf64>
  %s = weft.reduce sum %g dims [1] : tensor<16x4x32xf64>
  weft.return %d, %s : tensor<64x32xf64>, tensor<16x32xf64>
}

// -----

// A thread keeps the totals of three sums over rows of 1024 elements, not of four.
// CHECK-LABEL: weft.program @registers(
// CHECK: weft.kernel @{{.*}} -> (tensor<64x1024xf32>, tensor<64x1024xf32>, tensor<16x1024xf32>, tensor<16x1024xf32>, tensor<16x1024xf32>) rows [16, 4, 1024] over [2] sums [1]
// CHECK: columns [16, 4, 1024] over [1]
weft.program @registers(%x: tensor<64x1024xf32> {weft.input = "x"}) -> (tensor<64x1024xf32> {weft.output = "y"}, tensor<16x1024xf32> {weft.output = "s"}, tensor<16x1024xf32> {weft.output = "t"}, tensor<16x1024xf32> {weft.output = "u"}, tensor<16x1024xf32> {weft.output = "v"}) attributes {kind = #weft.kind<eval>} {
  %m = weft.reduce mean %x dims [1] {keep_dims} : tensor<64x1024xf32>
  %d = weft.sub %x, %m : tensor<64x1024xf32>, tensor<64x1xf32>
  %e = weft.mul %d, %d : tensor<64x1024xf32>, tensor<64x1024xf32>
  %f = weft.mul %e, %d : tensor<64x1024xf32>, tensor<64x1024xf32>
  %gx = weft.reshape %x : tensor<64x1024xf32> to tensor<16x4x1024xf32>
  %s = weft.reduce sum %gx dims [1] : tensor<16x4x1024xf32>
  %gd = weft.reshape %d : tensor<64x1024xf32> to tensor<16x4x1024xf32>
  %t = weft.reduce sum %gd dims [1] : tensor<16x4x1024xf32>
  %ge = weft.reshape %e : tensor<64x1024xf32> to tensor<16x4x1024xf32>
  %u = weft.reduce sum %ge dims [1] : tensor<16x4x1024xf32>
  %gf = weft.reshape %f : tensor<64x1024xf32> to tensor<16x4x1024xf32>
  %v = weft.reduce sum %gf dims [1] : tensor<16x4x1024xf32>
  weft.return %d, %s, %t, %u, %v : tensor<64x1024xf32>, tensor<16x1024xf32>, tensor<16x1024xf32>, tensor<16x1024xf32>, tensor<16x1024xf32>
}
