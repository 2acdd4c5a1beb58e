// An attention of constants has no cache, and a window that is longer than the
// cache hides nothing (and would not fit an i32).

// RUN: weft-opt %s --weft-derive-decoding | FileCheck %s

// CHECK-COUNT-2: weft.state @{{cached_key|cached_value}} : tensor<1x8x4xf32>
// CHECK-NOT: weft.state @
// CHECK: weft.program @decode
// CHECK: weft.attention
// CHECK: weft.compare eq
// CHECK: weft.compare le
// CHECK-NOT: weft.compare
// CHECK: weft.return

weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<8x4xf32>
  %fixed = weft.reshape %table : tensor<8x4xf32> to tensor<1x8x1x4xf32>
  %own, %own_lse = weft.attention %fixed, %fixed, %fixed {causal, scale = 0.5 : f64}
      : tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>
  %rows = weft.embedding %table, %tokens : tensor<8x4xf32>, tensor<1x8xi32>
  %x = weft.reshape %rows : tensor<1x8x4xf32> to tensor<1x8x1x4xf32>
  %sum = weft.add %x, %own : tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>
  %out, %lse = weft.attention %sum, %x, %x {causal, scale = 0.5 : f64, window = 4294967296 : i64}
      : tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>
  %flat = weft.reshape %out : tensor<1x8x1x4xf32> to tensor<8x4xf32>
  %last = weft.embedding %flat, %at : tensor<8x4xf32>, tensor<1xi32>
  weft.return %last : tensor<1x4xf32>
}
