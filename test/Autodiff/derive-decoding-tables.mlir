// Sampling with a cache: a table with an entry for each position becomes the
// entry at the token's position, whatever its type and shape.

// RUN: weft-opt %s --split-input-file --weft-derive-decoding | FileCheck %s

// Integers that a constant gives are exact as f32.
// CHECK-LABEL: weft.program @decode(
// CHECK-SAME: %{{[^:]*}}: tensor<1x1xi32> {weft.input = "tokens"}, %[[AT:[^:]*]]: tensor<1xi32>
// CHECK: %[[TABLE:.*]] = weft.constant {{.*}} : tensor<8xi32>
// CHECK: %[[WIDE:.*]] = weft.cast %[[TABLE]] : tensor<8xi32> to tensor<8xf32>
// CHECK: %[[ROWS:.*]] = weft.reshape %[[WIDE]] : tensor<8xf32> to tensor<8x1xf32>
// CHECK: %[[ROW:.*]] = weft.embedding %[[ROWS]], %[[AT]] : tensor<8x1xf32>, tensor<1xi32>
// CHECK: %[[FLAT:.*]] = weft.reshape %[[ROW]] : tensor<1x1xf32> to tensor<1xf32>
// CHECK: %[[ENTRY:.*]] = weft.cast %[[FLAT]] : tensor<1xf32> to tensor<1xi32>
// CHECK: weft.add %{{.*}}, %[[ENTRY]] : tensor<1x1xi32>, tensor<1xi32>
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<32x4xf32>
  %offsets = weft.constant dense<[0, 4, 8, 12, 16, 20, 24, 28]> : tensor<8xi32>
  %ids = weft.add %tokens, %offsets : tensor<1x8xi32>, tensor<8xi32>
  %rows = weft.embedding %table, %ids : tensor<32x4xf32>, tensor<1x8xi32>
  %flat = weft.reshape %rows : tensor<1x8x4xf32> to tensor<8x4xf32>
  %last = weft.embedding %flat, %at : tensor<8x4xf32>, tensor<1xi32>
  weft.return %last : tensor<1x4xf32>
}

// -----

// Positions behind heads, and a table of booleans.
// CHECK-LABEL: weft.program @decode(
// CHECK: %[[TURNED:.*]] = weft.transpose %{{.*}} [1, 0, 2] : tensor<2x8x3xf32>
// CHECK: weft.reshape %[[TURNED]] : tensor<8x2x3xf32> to tensor<8x6xf32>
// CHECK: %[[HEADS:.*]] = weft.reshape %{{.*}} : tensor<1x6xf32> to tensor<2x1x3xf32>
// CHECK: weft.mul %{{.*}}, %[[HEADS]] : tensor<1x2x1x3xf32>, tensor<2x1x3xf32>
// CHECK: %[[ROW:.*]] = weft.reshape %{{.*}} : tensor<1x1xf32> to tensor<1x1xf32>
// CHECK: %[[TRUE:.*]] = weft.compare ne %{{.*}}, %{{.*}} : tensor<1x1xf32>, tensor<f32>
// CHECK: weft.select %[[TRUE]]
weft.param @scale : tensor<2x8x3xf32> {init = #weft.init<zeros>}
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x6xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<4x6xf32>
  %rows = weft.embedding %table, %tokens : tensor<4x6xf32>, tensor<1x8xi32>
  %split = weft.reshape %rows : tensor<1x8x6xf32> to tensor<1x8x2x3xf32>
  %heads = weft.transpose %split [0, 2, 1, 3] : tensor<1x8x2x3xf32>
  %scale = weft.read @scale : tensor<2x8x3xf32>
  %scaled = weft.mul %heads, %scale : tensor<1x2x8x3xf32>, tensor<2x8x3xf32>
  %keep = weft.constant dense<[[true], [false], [true], [true], [true], [true], [true], [true]]> : tensor<8x1xi1>
  %zero = weft.constant dense<0.0> : tensor<f32>
  %kept = weft.select %keep, %scaled, %zero : tensor<8x1xi1>, tensor<1x2x8x3xf32>, tensor<f32>
  %back = weft.transpose %kept [0, 2, 1, 3] : tensor<1x2x8x3xf32>
  %flat = weft.reshape %back : tensor<1x8x2x3xf32> to tensor<8x6xf32>
  %last = weft.embedding %flat, %at : tensor<8x6xf32>, tensor<1xi32>
  weft.return %last : tensor<1x6xf32>
}

// -----

// Two entries for each position.
// CHECK-LABEL: weft.program @decode(
// CHECK: %[[PAIRS:.*]] = weft.reshape %{{.*}} : tensor<16x3xf32> to tensor<8x6xf32>
// CHECK: %[[PAIR:.*]] = weft.embedding %[[PAIRS]], %{{.*}} : tensor<8x6xf32>, tensor<1xi32>
// CHECK: %[[ENTRY:.*]] = weft.reshape %[[PAIR]] : tensor<1x6xf32> to tensor<2x3xf32>
// CHECK: weft.add %{{.*}}, %[[ENTRY]] : tensor<1x2x3xf32>, tensor<2x3xf32>
weft.param @pairs : tensor<16x3xf32> {init = #weft.init<zeros>}
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x6xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<4x6xf32>
  %rows = weft.embedding %table, %tokens : tensor<4x6xf32>, tensor<1x8xi32>
  %split = weft.reshape %rows : tensor<1x8x6xf32> to tensor<1x16x3xf32>
  %pairs = weft.read @pairs : tensor<16x3xf32>
  %sum = weft.add %split, %pairs : tensor<1x16x3xf32>, tensor<16x3xf32>
  %flat = weft.reshape %sum : tensor<1x16x3xf32> to tensor<8x6xf32>
  %last = weft.embedding %flat, %at : tensor<8x6xf32>, tensor<1xi32>
  weft.return %last : tensor<1x6xf32>
}
