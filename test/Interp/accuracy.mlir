// RUN: weft-interp %s | FileCheck %s
// RUN: weft-opt %s --weft-decompose -o %t.mlir
// RUN: weft-interp %t.mlir | FileCheck %s

// The share of rows whose largest logit is the target's. Among equal logits the
// first class wins, and a row with a NaN is wrong.

// Rows: right, wrong, right by the tie rule, wrong by it.
// CHECK-LABEL: program @ties{{$}}
// CHECK-NEXT: mean = 0.5 : f32
// CHECK-NEXT: sum = 2 : f32
weft.program @ties() -> (tensor<f32> {weft.output = "mean"}, tensor<f32> {weft.output = "sum"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[1.0, 3.0, 2.0], [1.0, 3.0, 2.0], [4.0, 4.0, 0.0], [4.0, 4.0, 0.0]]> : tensor<4x3xf32>
  %t = weft.constant dense<[1, 2, 0, 1]> : tensor<4xi32>
  %mean = weft.accuracy %x, %t : tensor<4x3xf32>, tensor<4xi32>
  %sum = weft.accuracy %x, %t {reduction = #weft.loss_reduction<sum>} : tensor<4x3xf32>, tensor<4xi32>
  weft.return %mean, %sum : tensor<f32>, tensor<f32>
}

// Infinities are numbers; a NaN anywhere in the row, the target's included, is not.
// CHECK-LABEL: program @special{{$}}
// CHECK-NEXT: infinite = 3 : f32
// CHECK-NEXT: nan = 0 : f32
weft.program @special() -> (tensor<f32> {weft.output = "infinite"}, tensor<f32> {weft.output = "nan"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[0xFF800000, 0xFF800000], [0xFF800000, 0xFF800000], [0x7F800000, 0.0], [0.0, 0x7F800000]]> : tensor<4x2xf32>
  %t = weft.constant dense<[0, 1, 0, 1]> : tensor<4xi32>
  %infinite = weft.accuracy %x, %t {reduction = #weft.loss_reduction<sum>} : tensor<4x2xf32>, tensor<4xi32>
  %y = weft.constant dense<[[1.0, 0x7FC00000], [0x7FC00000, 0xFF800000], [0x7FC00000, 1.0], [0x7FC00000, 0x7FC00000]]> : tensor<4x2xf32>
  %s = weft.constant dense<[0, 0, 1, 0]> : tensor<4xi32>
  %nan = weft.accuracy %y, %s {reduction = #weft.loss_reduction<sum>} : tensor<4x2xf32>, tensor<4xi32>
  weft.return %infinite, %nan : tensor<f32>, tensor<f32>
}

// Ignored rows do not count, even with a NaN; without any other row the mean is
// NaN. Another target that is no class makes it NaN.
// CHECK-LABEL: program @ignored{{$}}
// CHECK-NEXT: half = 0.5 : f32
// CHECK-NEXT: none = nan : f32
// CHECK-NEXT: outside = nan : f32
weft.program @ignored() -> (tensor<f32> {weft.output = "half"}, tensor<f32> {weft.output = "none"}, tensor<f32> {weft.output = "outside"}) attributes {kind = #weft.kind<eval>} {
  %x = weft.constant dense<[[[1.0, 2.0], [0.0, 0x7E00]], [[3.0, 1.0], [2.0, 2.0]]]> : tensor<2x2x2xf16>
  %t = weft.constant dense<[[1, -1], [1, -1]]> : tensor<2x2xi64>
  %half = weft.accuracy %x, %t {ignore_index = -1} : tensor<2x2x2xf16>, tensor<2x2xi64>
  %no = weft.constant dense<-1> : tensor<2x2xi64>
  %none = weft.accuracy %x, %no {ignore_index = -1} : tensor<2x2x2xf16>, tensor<2x2xi64>
  %outside = weft.accuracy %x, %t {ignore_index = 9} : tensor<2x2x2xf16>, tensor<2x2xi64>
  weft.return %half, %none, %outside : tensor<f32>, tensor<f32>, tensor<f32>
}
