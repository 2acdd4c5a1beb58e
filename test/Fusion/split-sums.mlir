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

// All ops keep the formula and the update of the reduction.
// CHECK-LABEL: weft.program @origin(
// CHECK: weft.reshape %{{.*}} {weft.formula = "softmax", weft.scope = "h.0", weft.update = 3 : i64}
// CHECK-NEXT: weft.reduce sum %{{.*}} {weft.formula = "softmax", weft.scope = "h.0", weft.update = 3 : i64}
// CHECK-NEXT: weft.reduce sum %{{.*}} {weft.formula = "softmax", weft.scope = "h.0", weft.update = 3 : i64}
// CHECK-NEXT: weft.return
weft.program @origin(%x: tensor<65536x8xf32> {weft.input = "x"}) -> (tensor<8xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.reduce sum %x dims [0] {weft.formula = "softmax", weft.scope = "h.0", weft.update = 3 : i64} : tensor<65536x8xf32>
  weft.return %s : tensor<8xf32>
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

// No number divides the rows: 11 chunks, and the rows behind them.
// CHECK-LABEL: weft.program @prime(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<32771x768xf32>
// CHECK-NEXT: %[[M:.*]] = weft.slice %[[X]] offsets [0, 0] sizes [32769, 768] strides [1, 1] {weft.scope = "h.0"}
// CHECK-NEXT: %[[R:.*]] = weft.reshape %[[M]] {weft.scope = "h.0"} : tensor<32769x768xf32> to tensor<11x2979x768xf32>
// CHECK-NEXT: %[[C:.*]] = weft.reduce sum %[[R]] dims [1] {weft.scope = "h.0"}
// CHECK-NEXT: %[[D:.*]] = weft.reduce sum %[[C]] dims [0] {weft.scope = "h.0"} : tensor<11x768xf32>
// CHECK-NEXT: %[[T:.*]] = weft.slice %[[X]] offsets [32769, 0] sizes [2, 768] strides [1, 1] {weft.scope = "h.0"}
// CHECK-NEXT: %[[E:.*]] = weft.reduce sum %[[T]] dims [0] {weft.scope = "h.0"} : tensor<2x768xf32>
// CHECK-NEXT: %[[S:.*]] = weft.add %[[D]], %[[E]] {weft.scope = "h.0"} : tensor<768xf32>
// CHECK-NEXT: weft.return %[[S]]
weft.program @prime(%x: tensor<32771x768xf32> {weft.input = "x"}) -> (tensor<768xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.reduce sum %x dims [0] {weft.scope = "h.0"} : tensor<32771x768xf32>
  weft.return %s : tensor<768xf32>
}

// -----

// A mean is divided once, behind all; low types are rounded once, too. Twice a
// prime would be two chunks.
// CHECK-LABEL: weft.program @uneven_mean(
// CHECK: %[[M:.*]] = weft.slice %{{.*}} offsets [0] sizes [65536] strides [1] : tensor<65543xbf16>
// CHECK: %[[W:.*]] = weft.cast %[[M]] : tensor<65536xbf16> to tensor<65536xf32>
// CHECK: weft.reshape %[[W]] : tensor<65536xf32> to tensor<64x1024xf32>
// CHECK: weft.reduce sum {{.*}} : tensor<64x1024xf32>
// CHECK: weft.slice %{{.*}} offsets [65536] sizes [7] strides [1] : tensor<65543xbf16>
// CHECK: %[[A:.*]] = weft.add
// CHECK: %[[N:.*]] = weft.constant dense<6.554300e+04> : tensor<f32>
// CHECK: %[[Q:.*]] = weft.div %[[A]], %[[N]]
// CHECK: weft.cast %[[Q]] : tensor<f32> to tensor<bf16>
// CHECK-LABEL: weft.program @uneven_max(
// CHECK: weft.reduce max {{.*}} : tensor<11x2978x768xf32>
// CHECK: weft.reduce max {{.*}} : tensor<4x768xf32>
// CHECK: weft.max
weft.program @uneven_mean(%x: tensor<65543xbf16> {weft.input = "x"}) -> (tensor<bf16> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.reduce mean %x dims [0] : tensor<65543xbf16>
  weft.return %s : tensor<bf16>
}
weft.program @uneven_max(%x: tensor<2x16381x768xf32> {weft.input = "x"}) -> (tensor<768xf32> {weft.output = "s"}) attributes {kind = #weft.kind<eval>} {
  %s = weft.reduce max %x dims [0, 1] : tensor<2x16381x768xf32>
  weft.return %s : tensor<768xf32>
}

// -----

// Reductions that stay: few elements, columns enough, rows that are reduced themselves.
// CHECK-LABEL: weft.program @left_alone(
// CHECK-NEXT: weft.reduce sum %{{.*}} dims [0] : tensor<65535xf32>
// CHECK-NEXT: weft.reduce sum %{{.*}} dims [0] : tensor<4096x8448xf32>
// CHECK-NEXT: weft.reduce sum %{{.*}} dims [1] : tensor<4x65536xf32>
// CHECK-NEXT: weft.return
weft.program @left_alone(%a: tensor<65535xf32> {weft.input = "a"}, %c: tensor<4096x8448xf32> {weft.input = "c"}, %d: tensor<4x65536xf32> {weft.input = "d"})
    -> (tensor<f32> {weft.output = "sa"}, tensor<8448xf32> {weft.output = "sc"}, tensor<4xf32> {weft.output = "sd"}) attributes {kind = #weft.kind<eval>} {
  %sa = weft.reduce sum %a dims [0] : tensor<65535xf32>
  %sc = weft.reduce sum %c dims [0] : tensor<4096x8448xf32>
  %sd = weft.reduce sum %d dims [1] : tensor<4x65536xf32>
  weft.return %sa, %sc, %sd : tensor<f32>, tensor<8448xf32>, tensor<4xf32>
}
