// Reductions over many rows of few columns become two, cut at places that follow
// from the shape.
// RUN: weft-opt %s --weft-split-sums --split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-split-sums="blocks=24" --split-input-file | FileCheck %s --check-prefix=FEW

// 24 tiles of columns need 11 chunks each to be 264 blocks: 32 rows are cut into 16.
// CHECK-LABEL: weft.program @columns(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<32x1024x768xf32>
// CHECK: %[[R:.*]] = weft.reshape %[[X]] {weft.scope = "h.0"} : tensor<32x1024x768xf32> to tensor<16x2x1024x768xf32>
// CHECK: %[[C:.*]] = weft.reduce sum %[[R]] dims [1, 2] {weft.scope = "h.0"} : tensor<16x2x1024x768xf32>
// CHECK: %[[S:.*]] = weft.reduce sum %[[C]] dims [0] {weft.scope = "h.0"} : tensor<16x768xf32>
// CHECK: weft.return %[[S]]
// FEW-LABEL: weft.program @columns(
// FEW: weft.reduce sum %{{.*}} dims [0, 1] {weft.scope = "h.0"} : tensor<32x1024x768xf32>
weft.program @columns(%x: tensor<32x1024x768xf32> {weft.input = "x"}) -> (tensor<768xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.reduce sum %x dims [0, 1] {weft.scope = "h.0"} : tensor<32x1024x768xf32>
  weft.return %s : tensor<768xf32>
}

// -----

// Low types are widened before and rounded once. A dimension that is as many
// chunks as are wanted stays.
// CHECK-LABEL: weft.program @rounded_once(
// CHECK: %[[F:.*]] = weft.cast %{{.*}} : tensor<264x300x7xbf16> to tensor<264x300x7xf32>
// CHECK: %[[C:.*]] = weft.reduce max %[[F]] dims [1] : tensor<264x300x7xf32>
// CHECK: %[[S:.*]] = weft.reduce max %[[C]] dims [0] : tensor<264x7xf32>
// CHECK: %[[L:.*]] = weft.cast %[[S]] : tensor<7xf32> to tensor<7xbf16>
// CHECK: weft.reshape %[[L]] : tensor<7xbf16> to tensor<1x1x7xbf16>
weft.program @rounded_once(%x: tensor<264x300x7xbf16> {weft.input = "x"}) -> (tensor<1x1x7xbf16> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.reduce max %x dims [0, 1] {keep_dims} : tensor<264x300x7xbf16>
  weft.return %s : tensor<1x1x7xbf16>
}

// -----

// Everything is one column; chunks have 1024 elements at least, so there are 100.
// CHECK-LABEL: weft.program @everything(
// CHECK: %[[R:.*]] = weft.reshape %{{.*}} : tensor<102400xf64> to tensor<100x1024xf64>
// CHECK: %[[C:.*]] = weft.reduce mean %[[R]] dims [1] : tensor<100x1024xf64>
// CHECK: weft.reduce mean %[[C]] dims [0] : tensor<100xf64>
weft.program @everything(%x: tensor<102400xf64> {weft.input = "x"}) -> (tensor<f64> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.reduce mean %x dims [0] : tensor<102400xf64>
  weft.return %s : tensor<f64>
}

// -----

// What stays: few elements, rows that no such number divides, columns enough, rows
// that are reduced themselves.
// CHECK-LABEL: weft.program @left_alone(
// CHECK-NEXT: weft.reduce sum %{{.*}} dims [0] : tensor<65535xf32>
// CHECK-NEXT: weft.reduce sum %{{.*}} dims [0] : tensor<65537xf32>
// CHECK-NEXT: weft.reduce sum %{{.*}} dims [0] : tensor<4096x8448xf32>
// CHECK-NEXT: weft.reduce sum %{{.*}} dims [1] : tensor<4x65536xf32>
// CHECK-NEXT: weft.return
weft.program @left_alone(%a: tensor<65535xf32> {weft.input = "a"}, %b: tensor<65537xf32> {weft.input = "b"}, %c: tensor<4096x8448xf32> {weft.input = "c"}, %d: tensor<4x65536xf32> {weft.input = "d"})
    -> (tensor<f32> {weft.output = "sa"}, tensor<f32> {weft.output = "sb"}, tensor<8448xf32> {weft.output = "sc"}, tensor<4xf32> {weft.output = "sd"}) attributes {kind = #weft.kind<eval>} {
  %sa = weft.reduce sum %a dims [0] : tensor<65535xf32>
  %sb = weft.reduce sum %b dims [0] : tensor<65537xf32>
  %sc = weft.reduce sum %c dims [0] : tensor<4096x8448xf32>
  %sd = weft.reduce sum %d dims [1] : tensor<4x65536xf32>
  weft.return %sa, %sb, %sc, %sd : tensor<f32>, tensor<f32>, tensor<8448xf32>, tensor<4xf32>
}
