// A widening cast is cloned for each kernel that can read its operand itself.
// RUN: weft-opt %s --weft-clone-casts --split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-clone-casts --weft-fuse=widen-in-readers --split-input-file | FileCheck %s --check-prefix=FUSED

// A sum over rows has a cast of its own: no kernel writes the f32 elements.
// CHECK-LABEL: weft.program @sum(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<64x32xf16>
// CHECK: %[[F:.*]] = weft.cast %[[X]]
// CHECK-NEXT: %[[Y:.*]] = weft.mul %[[F]],
// CHECK-NEXT: %[[Z:.*]] = weft.sub %[[Y]], %[[F]]
// CHECK: %[[C:.*]] = weft.cast %[[X]]
// CHECK-NEXT: weft.reduce sum %[[C]]
// FUSED-LABEL: weft.program @sum(
// FUSED-SAME: %[[X:[a-z0-9]+]]: tensor<64x32xf16>
// FUSED: weft.call @{{.*}}(%[[X]], %{{.*}}) : (tensor<64x32xf16>, tensor<32xf32>) -> tensor<64x32xf32>
// FUSED-NEXT: weft.call @{{.*}}(%[[X]]) : (tensor<64x32xf16>) -> tensor<32xf32>
// FUSED-NEXT: weft.return
weft.program @sum(%x: tensor<64x32xf16> {weft.input = "x"}, %g: tensor<32xf32> {weft.input = "g"}) -> (tensor<64x32xf32> {weft.output = "z"}, tensor<32xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %f = weft.cast %x : tensor<64x32xf16> to tensor<64x32xf32>
  %y = weft.mul %f, %g : tensor<64x32xf32>, tensor<32xf32>
  %z = weft.sub %y, %f : tensor<64x32xf32>, tensor<64x32xf32>
  %m = weft.reduce mean %z dims [1] {keep_dims} : tensor<64x32xf32>
  %w = weft.sub %z, %m : tensor<64x32xf32>, tensor<64x1xf32>
  %s = weft.reduce sum %f dims [0] : tensor<64x32xf32>
  weft.return %w, %s : tensor<64x32xf32>, tensor<32xf32>
}

// -----

// Readers on both sides of a routine; those on one side share a cast.
// CHECK-LABEL: weft.program @routine(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<64x64xbf16>
// CHECK-NEXT: %[[A:.*]] = weft.cast %[[X]]
// CHECK-NEXT: weft.exp %[[A]]
// CHECK: weft.matmul
// CHECK-NEXT: %[[B:.*]] = weft.cast %[[X]]
// CHECK-NEXT: weft.mul %{{.*}}, %[[B]]
// CHECK-NEXT: weft.sub %{{.*}}, %[[B]]
// CHECK-NEXT: weft.return
// FUSED-LABEL: weft.program @routine(
// FUSED-SAME: %[[X:[a-z0-9]+]]: tensor<64x64xbf16>
// FUSED: weft.call @{{.*}}(%[[X]]) : (tensor<64x64xbf16>) -> tensor<64x64xf32>
// FUSED: weft.matmul
// FUSED-NEXT: weft.call @{{.*}}(%[[X]], %{{.*}}) : (tensor<64x64xbf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
weft.program @routine(%x: tensor<64x64xbf16> {weft.input = "x"}) -> (tensor<64x64xf32> {weft.output = "z"}) attributes {kind = #weft.kind<eval>} {
  %f = weft.cast %x : tensor<64x64xbf16> to tensor<64x64xf32>
  %e = weft.exp %f : tensor<64x64xf32>
  %p = weft.matmul %e, %e {weft.impl = "gemm"} : tensor<64x64xf32>, tensor<64x64xf32>
  %y = weft.mul %p, %f : tensor<64x64xf32>, tensor<64x64xf32>
  %z = weft.sub %y, %f : tensor<64x64xf32>, tensor<64x64xf32>
  weft.return %z : tensor<64x64xf32>
}

// -----

// The elements are needed in memory anyway; f64 and roundings are no such casts.
// CHECK-LABEL: weft.program @stays(
// CHECK-COUNT-3: weft.cast
// CHECK-NOT: weft.cast
weft.program @stays(%x: tensor<64x64xf16> {weft.input = "x"}, %v: tensor<64x64xf32> {weft.input = "v"}) -> (tensor<64x64xf32> {weft.output = "p"}, tensor<64xf32> {weft.output = "s"}, tensor<64xf16> {weft.output = "t"}, tensor<64x64xf16> {weft.output = "n"}, tensor<64xf64> {weft.output = "d"}, tensor<64x64xf64> {weft.output = "e"}) attributes {kind = #weft.kind<eval>} {
  %f = weft.cast %x : tensor<64x64xf16> to tensor<64x64xf32>
  %p = weft.matmul %f, %f {weft.impl = "gemm"} : tensor<64x64xf32>, tensor<64x64xf32>
  %s = weft.reduce sum %f dims [0] : tensor<64x64xf32>
  %r = weft.cast %v : tensor<64x64xf32> to tensor<64x64xf16>
  %t = weft.reduce sum %r dims [0] : tensor<64x64xf16>
  %n = weft.neg %r : tensor<64x64xf16>
  %w = weft.cast %v : tensor<64x64xf32> to tensor<64x64xf64>
  %d = weft.reduce sum %w dims [0] : tensor<64x64xf64>
  %e = weft.neg %w : tensor<64x64xf64>
  weft.return %p, %s, %t, %n, %d, %e : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf16>, tensor<64x64xf16>, tensor<64xf64>, tensor<64x64xf64>
}
