// Sampling with a cache: prefill is the program logits, and keeps keys and
// values; decode computes one token.

// RUN: weft-opt %s --weft-derive-decoding | FileCheck %s
// RUN: weft-opt %s --weft-derive-decoding | weft-opt | FileCheck %s

// CHECK-DAG: weft.state @attn.cached_key : tensor<1x8x4xf32> {kind = #weft.state_kind<cache>}
// CHECK-DAG: weft.state @attn.cached_value : tensor<1x8x4xf32> {kind = #weft.state_kind<cache>}

// CHECK: weft.program @prefill(%{{.*}}: tensor<1x8xi32> {weft.input = "tokens"}, %{{.*}}: tensor<1xi32> {weft.input = "position"})
// CHECK-SAME: kind = #weft.kind<prefill>
// CHECK: %[[K:.*]] = weft.slice
// CHECK: weft.attention
// CHECK: %[[KEYS:.*]] = weft.transpose %{{.*}} : tensor<8x1x4xf32>
// CHECK: %[[VALUES:.*]] = weft.transpose
// CHECK: weft.return %{{.*}} : tensor<1x16xf32> writes @attn.cached_key = %[[KEYS]] : tensor<1x8x4xf32>, @attn.cached_value = %[[VALUES]] : tensor<1x8x4xf32>

// CHECK: weft.program @decode(%[[TOKENS:.*]]: tensor<1x1xi32> {weft.input = "tokens"}, %[[AT:.*]]: tensor<1xi32> {weft.input = "position"})
// CHECK-SAME: kind = #weft.kind<decode>
// CHECK: weft.embedding %{{.*}}, %[[TOKENS]] : tensor<16x8xf32>, tensor<1x1xi32>
// The row of a table of positions:
// CHECK: %[[ROW:.*]] = weft.embedding %{{.*}}, %[[AT]] : tensor<8x8xf32>, tensor<1xi32>
// CHECK: weft.add %{{.*}}, %{{.*}} : tensor<1x1x8xf32>, tensor<1x8xf32>
// CHECK: weft.slice %{{.*}} offsets [0, 0, 8] sizes [1, 1, 4] strides [1, 1, 1]
// CHECK: weft.reshape %{{.*}} : tensor<1x1x8xf32> to tensor<1x1x2x4xf32>
// CHECK: %[[HERE:.*]] = weft.compare eq %{{.*}}, %[[AT]] {weft.scope = "attn"} : tensor<1x8x1xi32>, tensor<1xi32>
// CHECK: %[[OLD:.*]] = weft.read @attn.cached_key {{.*}}
// CHECK: %[[NEW:.*]] = weft.select %[[HERE]], %{{.*}}, %[[OLD]] {weft.scope = "attn"} : tensor<1x8x1xi1>, tensor<1x1x4xf32>, tensor<1x8x4xf32>
// CHECK: %[[SCORES:.*]] = weft.matmul %{{.*}}, %[[NEW]] {transpose_rhs, weft.scope = "attn"} : tensor<1x2x4xf32>, tensor<1x8x4xf32>
// CHECK: weft.select %{{.*}}, %{{.*}}, %{{.*}} {weft.scope = "attn"} : tensor<8xi1>, tensor<1x2x8xf32>, tensor<f32>
// CHECK: weft.softmax
// CHECK: weft.return %{{.*}} : tensor<1x16xf32> writes @attn.cached_key = %[[NEW]]
// CHECK-NOT: kind = #weft.kind<logits>

weft.param @table : tensor<16x8xf32> {init = #weft.init<zeros>}
weft.param @positions : tensor<8x8xf32> {init = #weft.init<zeros>}
weft.param @qkv : tensor<8x16xf32> {init = #weft.init<zeros>}
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x16xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.read @table : tensor<16x8xf32>
  %rows = weft.embedding %table, %tokens : tensor<16x8xf32>, tensor<1x8xi32>
  %positions = weft.read @positions : tensor<8x8xf32>
  %x = weft.add %rows, %positions : tensor<1x8x8xf32>, tensor<8x8xf32>
  %w = weft.read @qkv : tensor<8x16xf32>
  %qkv = weft.matmul %x, %w : tensor<1x8x8xf32>, tensor<8x16xf32>
  %q0 = weft.slice %qkv offsets [0, 0, 0] sizes [1, 8, 8] strides [1, 1, 1] : tensor<1x8x16xf32>
  %k0 = weft.slice %qkv offsets [0, 0, 8] sizes [1, 8, 4] strides [1, 1, 1] : tensor<1x8x16xf32>
  %v0 = weft.slice %qkv offsets [0, 0, 12] sizes [1, 8, 4] strides [1, 1, 1] : tensor<1x8x16xf32>
  %q = weft.reshape %q0 : tensor<1x8x8xf32> to tensor<1x8x2x4xf32>
  %k = weft.reshape %k0 : tensor<1x8x4xf32> to tensor<1x8x1x4xf32>
  %v = weft.reshape %v0 : tensor<1x8x4xf32> to tensor<1x8x1x4xf32>
  %out, %lse = weft.attention %q, %k, %v {causal, scale = 0.5 : f64, weft.scope = "attn"}
      : tensor<1x8x2x4xf32>, tensor<1x8x1x4xf32>, tensor<1x8x1x4xf32>
  %flat = weft.reshape %out : tensor<1x8x2x4xf32> to tensor<8x8xf32>
  %last = weft.embedding %flat, %at : tensor<8x8xf32>, tensor<1xi32>
  %logits = weft.matmul %last, %table {transpose_rhs} : tensor<1x8xf32>, tensor<16x8xf32>
  weft.return %logits : tensor<1x16xf32>
}
