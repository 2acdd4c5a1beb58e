// A model that joins positions keeps its program logits, with a warning.

// RUN: weft-opt %s --verify-diagnostics --weft-derive-decoding=optional | FileCheck %s

// CHECK-NOT: weft.state
// CHECK-NOT: kind = #weft.kind<decode>
// CHECK: weft.program @logits
// CHECK-SAME: kind = #weft.kind<logits>
// CHECK-NOT: weft.program
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x4xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.constant dense<1.0> : tensor<4x4xf32>
  %rows = weft.embedding %table, %tokens : tensor<4x4xf32>, tensor<1x8xi32>
  %x = weft.reshape %rows : tensor<1x8x4xf32> to tensor<1x8x1x4xf32>
  %out, %lse = weft.attention %x, %x, %x {causal, scale = 0.5 : f64}
      : tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>
  %flat = weft.reshape %out : tensor<1x8x1x4xf32> to tensor<1x8x4xf32>
  // expected-warning @+1 {{samples compute their whole window for each token, without --kv-cache: 'weft.reduce' op joins positions}}
  %sum = weft.reduce sum %flat dims [1] : tensor<1x8x4xf32>
  weft.return %sum : tensor<1x4xf32>
}
