// RUN: weft-opt %s --weft-store-dropout-bits | FileCheck %s
// RUN: weft-opt %s --weft-store-dropout-bits --weft-autodiff | FileCheck %s --check-prefix=GRADIENT
// RUN: weft-opt %s --weft-store-dropout-bits --weft-store-dropout-bits | FileCheck %s
// RUN: weft-opt %s --weft-store-dropout-bits="stores=false" | FileCheck %s --check-prefix=DRAW
// RUN: weft-opt %s --weft-store-dropout-bits --remarks-filter=attention 2>&1 >/dev/null | FileCheck %s --check-prefix=PASSED --implicit-check-not=remark
// RUN: weft-opt %s --weft-store-dropout-bits="stores=false" --remarks-filter=attention 2>&1 >/dev/null | FileCheck %s --check-prefix=MISSED --implicit-check-not=remark

// Attention with dropout stores its bits, and the adjoint reads them in place of
// the seed. Attention without dropout, and programs without gradients, do not
// change.

weft.param @q : tensor<2x70x4x8xf32>
weft.param @k : tensor<2x130x2x8xf32>

// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: %[[RNG:[^ ]*]]: tensor<2xi64> {weft.input = "rng"}
// CHECK: %{{.*}}, %{{.*}} = weft.attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 5.000000e-01 : f64, weft.scope = "h.0"}
// CHECK: %{{.*}}, %{{.*}}, %{{.*}} = weft.attention %{{.*}} rng %[[RNG]] : tensor<2xi64> {causal, dropout = 1.000000e-01 : f64, op_id = 3 : i64, scale = 5.000000e-01 : f64, stores_bits, weft.scope = "h.1"}
// GRADIENT-LABEL: weft.program @micro(
// Of 70 queries and 130 keys there are 8 and 3 tiles.
// GRADIENT: %[[Y:.*]], %[[LSE:.*]], %[[BITS:.*]] = weft.attention {{.*}}stores_bits{{.*}}weft.saved = array<i64: 0, 1, 2>
// GRADIENT: weft.attention_grad %{{.*}}, %[[Y]], %[[LSE]] bits %[[BITS]] : tensor<2x4x8x3x32xi32> {causal, dropout = 1.000000e-01 : f64, op_id = 3 : i64, scale = 5.000000e-01 : f64
// GRADIENT-NOT: bits
// GRADIENT: weft.attention_grad {{.*}} {scale = 5.000000e-01 : f64
// DRAW-LABEL: weft.program @micro(
// DRAW-NOT: stores_bits
// PASSED: store-dropout-bits.mlir:[[#@LINE+8]]:{{.*}}: remark: {{.*}}the forward pass stores 24576 bytes of dropout bits, so the backward pass draws no random numbers
// MISSED: store-dropout-bits.mlir:[[#@LINE+7]]:{{.*}}: remark: {{.*}}the backward pass draws the random numbers of dropout again (--dropout-bits=draw)
weft.program @micro(%rng: tensor<2xi64> {weft.input = "rng"}, %g: tensor<2x70x4x8xf32> {weft.input = "loss_seed"}, %flag: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<2x70x4x8xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %q = weft.read @q : tensor<2x70x4x8xf32>
  %k = weft.read @k : tensor<2x130x2x8xf32>
  %x, %plain = weft.attention %q, %k, %k {scale = 0.5 : f64, weft.scope = "h.0"}
      : tensor<2x70x4x8xf32>, tensor<2x130x2x8xf32>, tensor<2x130x2x8xf32>
  %y, %lse = weft.attention %x, %k, %k rng %rng : tensor<2xi64> {causal, dropout = 0.1 : f64, op_id = 3, scale = 0.5 : f64, weft.scope = "h.1"}
      : tensor<2x70x4x8xf32>, tensor<2x130x2x8xf32>, tensor<2x130x2x8xf32>
  weft.return %y : tensor<2x70x4x8xf32>
}

// CHECK-LABEL: weft.program @eval
// CHECK-NOT: stores_bits
weft.program @eval(%rng: tensor<2xi64> {weft.input = "rng"}) -> (tensor<2x70x4x8xf32> {weft.output = "loss"}) attributes {kind = #weft.kind<eval>} {
  %q = weft.read @q : tensor<2x70x4x8xf32>
  %y, %lse = weft.attention %q, %q, %q rng %rng : tensor<2xi64> {dropout = 0.1 : f64, op_id = 3, scale = 0.5 : f64}
      : tensor<2x70x4x8xf32>, tensor<2x70x4x8xf32>, tensor<2x70x4x8xf32>
  weft.return %y : tensor<2x70x4x8xf32>
}
