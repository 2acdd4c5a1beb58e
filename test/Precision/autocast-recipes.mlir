// RUN: weft-opt --split-input-file "--weft-autocast=dtype=bf16 recipe=llm" %s | FileCheck %s --check-prefixes=CHECK,LLM
// RUN: weft-opt --split-input-file "--weft-autocast=dtype=bf16 recipe=pure-f16" %s | FileCheck %s --check-prefixes=CHECK,PURE
// RUN: weft-opt --split-input-file "--weft-autocast=dtype=bf16 recipe=amp" %s | FileCheck %s --check-prefixes=CHECK,AMP

// A block of a language model. llm: the residual stream is low from the
// embedding on, norms have f32 weights and statistics, the loss reads low logits.
// pure-f16: every parameter except norms is low, the loss is f32. amp: the
// stream is f32.

weft.param @wte : tensor<16x4xf32>
weft.param @wpe : tensor<8x4xf32>
weft.param @g : tensor<4xf32>
weft.param @w : tensor<4x4xf32>
weft.param @b : tensor<4xf32>
// CHECK-LABEL: weft.program @block
weft.program @block(%ids: tensor<2x8xi32> {weft.input = "tokens"}, %t: tensor<2x8xi32> {weft.input = "targets"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %wte = weft.read @wte : tensor<16x4xf32>
  %wpe = weft.read @wpe : tensor<8x4xf32>
  %g = weft.read @g : tensor<4xf32>
  %w = weft.read @w : tensor<4x4xf32>
  %b = weft.read @b : tensor<4xf32>
  // LLM: %[[E:.*]] = weft.embedding %{{.*}}, %{{.*}} : tensor<16x4xbf16>, tensor<2x8xi32>
  // LLM-NEXT: %[[X:.*]] = weft.add %[[E]], %{{.*}} : tensor<2x8x4xbf16>, tensor<8x4xbf16>
  // LLM-NEXT: %[[N:.*]], %{{.*}}, %[[RSTD:.*]] = weft.layer_norm %[[X]], %{{.*}}, %{{.*}} {eps = {{.*}}} : tensor<2x8x4xbf16>, tensor<4xf32>
  // LLM-NEXT: %[[Y:.*]] = weft.matmul %[[N]], %{{.*}} : tensor<2x8x4xbf16>, tensor<4x4xbf16>
  // LLM-NEXT: %[[R:.*]] = weft.add %[[X]], %[[Y]] : tensor<2x8x4xbf16>, tensor<2x8x4xbf16>
  // PURE: %[[E:.*]] = weft.embedding %{{.*}}, %{{.*}} : tensor<16x4xbf16>, tensor<2x8xi32>
  // PURE-NEXT: %[[X:.*]] = weft.add %[[E]], %{{.*}} : tensor<2x8x4xbf16>, tensor<8x4xbf16>
  // PURE-NEXT: %[[N:.*]], %{{.*}}, %[[RSTD:.*]] = weft.layer_norm %[[X]], %{{.*}}, %{{.*}} {eps = {{.*}}} : tensor<2x8x4xbf16>, tensor<4xf32>
  // AMP: weft.embedding %{{.*}}, %{{.*}} : tensor<16x4xf32>, tensor<2x8xi32>
  // AMP-NEXT: weft.add %{{.*}} : tensor<2x8x4xf32>, tensor<8x4xf32>
  // AMP-NEXT: weft.layer_norm {{.*}} : tensor<2x8x4xf32>, tensor<4xf32>
  // AMP: weft.add %{{.*}} : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %e = weft.embedding %wte, %ids : tensor<16x4xf32>, tensor<2x8xi32>
  %x = weft.add %e, %wpe : tensor<2x8x4xf32>, tensor<8x4xf32>
  %n, %mean, %rstd = weft.layer_norm %x, %g, %b {eps = 1.0e-5 : f64} : tensor<2x8x4xf32>, tensor<4xf32>
  %y = weft.matmul %n, %w : tensor<2x8x4xf32>, tensor<4x4xf32>
  %r = weft.add %x, %y : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  // The logits share the copy of the embedding's table.
  // CHECK: %[[L:.*]] = weft.matmul %{{.*}}, %{{.*}} {transpose_rhs} : tensor<2x8x4xbf16>, tensor<16x4xbf16>
  // LLM-NEXT: %[[LOSS:.*]], %{{.*}}, %{{.*}} = weft.cross_entropy %[[L]], %{{.*}} : tensor<2x8x16xbf16>, tensor<2x8xi32>
  // LLM-NEXT: weft.return %[[LOSS]] : tensor<f32>
  // PURE-NEXT: %[[L32:.*]] = weft.cast %[[L]]
  // PURE-NEXT: weft.cross_entropy %[[L32]], %{{.*}} : tensor<2x8x16xf32>, tensor<2x8xi32>
  // AMP-NEXT: weft.cast %[[L]]
  // AMP-NEXT: weft.cross_entropy {{.*}} : tensor<2x8x16xf32>, tensor<2x8xi32>
  %logits = weft.matmul %r, %wte {transpose_rhs} : tensor<2x8x4xf32>, tensor<16x4xf32>
  %loss, %lse, %denom = weft.cross_entropy %logits, %t : tensor<2x8x16xf32>, tensor<2x8xi32>
  weft.return %loss : tensor<f32>
}

// -----

// rope: llm keeps its tables f32 beside a low operand; pure-f16 casts them as
// the buffers of the model that they are; amp widens the operand. A sum of f32
// scalars, as of losses, stays f32. Class weights stay f32.

weft.param @w : tensor<4x4xf32>
weft.param @head : tensor<4x3xf32>
weft.param @classes : tensor<3xf32>
// CHECK-LABEL: weft.program @rope
weft.program @rope(%x: tensor<4x4xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "t"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4x4xf32>
  %h = weft.read @head : tensor<4x3xf32>
  %c = weft.read @classes : tensor<3xf32>
  %table = weft.constant dense<0.5> : tensor<2x1xf32>
  %y = weft.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
  %q = weft.reshape %y : tensor<4x4xf32> to tensor<2x2x2x2xf32>
  // LLM: weft.rope %{{.*}} : tensor<2x2x2x2xbf16>, tensor<2x1xf32>
  // PURE: weft.rope %{{.*}} : tensor<2x2x2x2xbf16>, tensor<2x1xbf16>
  // AMP: weft.rope %{{.*}} : tensor<2x2x2x2xf32>, tensor<2x1xf32>
  %r = weft.rope %q, %table, %table : tensor<2x2x2x2xf32>, tensor<2x1xf32>
  %z = weft.reshape %r : tensor<2x2x2x2xf32> to tensor<4x4xf32>
  %logits = weft.matmul %z, %h : tensor<4x4xf32>, tensor<4x3xf32>
  // LLM: weft.cross_entropy {{.*}} weight %{{.*}} : tensor<3xf32> : tensor<4x3xbf16>, tensor<4xi32>
  // PURE: weft.cross_entropy {{.*}} weight %{{.*}} : tensor<3xf32> : tensor<4x3xf32>, tensor<4xi32>
  // AMP: weft.cross_entropy {{.*}} weight %{{.*}} : tensor<3xf32> : tensor<4x3xf32>, tensor<4xi32>
  %a, %lse, %denom = weft.cross_entropy %logits, %t weight %c : tensor<3xf32> : tensor<4x3xf32>, tensor<4xi32>
  // CHECK: weft.mse %{{.*}}, %{{.*}} : tensor<4x3xf32>
  %b = weft.mse %logits, %logits : tensor<4x3xf32>
  // CHECK: weft.add %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>
  %l = weft.add %a, %b : tensor<f32>, tensor<f32>
  weft.return %l : tensor<f32>
}

// -----

// The widest type of the stream alone decides in llm: f32 values stay f32, and
// what joins a low one goes low. In pure-f16 inputs are low too; an explicit
// cast and a disabled region are not touched.

weft.param @w : tensor<4x4xf32>
// CHECK-LABEL: weft.program @narrow
weft.program @narrow(%x: tensor<4x4xf32> {weft.input = "x"}, %f: tensor<4x4xf32> {weft.input = "f"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4x4xf32>
  // LLM: weft.mul %{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
  // PURE: weft.mul %{{.*}}, %{{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>
  %s = weft.mul %x, %f : tensor<4x4xf32>, tensor<4x4xf32>
  %y = weft.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
  // LLM: weft.sub %{{.*}}, %{{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>
  // PURE: weft.sub %{{.*}}, %{{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>
  // AMP: weft.sub %{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
  %d = weft.sub %y, %f : tensor<4x4xf32>, tensor<4x4xf32>
  // CHECK: weft.cast %arg{{.}} {weft.scope = "own"} : tensor<4x4xf32> to tensor<4x4xf64>
  %c = weft.cast %x {weft.scope = "own"} : tensor<4x4xf32> to tensor<4x4xf64>
  // CHECK: weft.exp %arg{{.}} : tensor<4x4xf32>
  %e = weft.autocast attributes {enabled = false} {
    %e = weft.exp %x : tensor<4x4xf32>
    weft.yield %e : tensor<4x4xf32>
  } : tensor<4x4xf32>
  // LLM: weft.softmax %{{.*}} : tensor<4x4xf32>
  // PURE: weft.softmax %{{.*}} : tensor<4x4xbf16>
  %p = weft.softmax %d : tensor<4x4xf32>
  %l = weft.reduce mean %p dims [0, 1] : tensor<4x4xf32>
  weft.return %l : tensor<f32>
}
