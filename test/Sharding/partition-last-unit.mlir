// RUN: weft-opt %s --weft-partition | FileCheck %s

// Parameters of the last unit of the forward pass stay for the backward pass, which
// begins with it; other units are gathered again. Both parameters of the block h.1
// are of the last unit, whichever of them is used last.

dist.mesh @mesh("dp" = 2)
weft.param @a : tensor<4xf32> {dist.layout = #dist.layout<sharded on "dp">, segments = [#weft.segment<@h.0.w [4] at 0 to 4>]}
weft.param @b : tensor<4xf32> {dist.layout = #dist.layout<sharded on "dp">, segments = [#weft.segment<@h.1.w [4] at 0 to 4>]}
weft.param @c : tensor<4xf32> {dist.layout = #dist.layout<sharded on "dp">, segments = [#weft.segment<@h.1.v [4] at 0 to 4>]}

// CHECK-LABEL: weft.program @micro
// CHECK: %[[A:.*]] = dist.all_gather %{{.*}} on @mesh {weft.scope = "h.0.attn"}
// CHECK: weft.mul %{{.*}}, %[[A]]
// CHECK: %[[B:.*]] = dist.all_gather %{{.*}} on @mesh {weft.scope = "h.1.attn"}
// CHECK: weft.mul %{{.*}}, %[[B]]
// CHECK: %[[C:.*]] = dist.all_gather %{{.*}} on @mesh {weft.scope = "h.1.mlp"}
// CHECK: weft.mul %{{.*}}, %[[C]]
// CHECK: weft.reduce sum
// CHECK-NEXT: weft.exp %[[C]]
// CHECK-NEXT: weft.exp %[[B]]
// CHECK-NEXT: %[[AGAIN:.*]] = dist.all_gather %{{.*}} on @mesh {weft.scope = "h.0.attn"}
// CHECK-NEXT: weft.exp %[[AGAIN]]
weft.program @micro(%x: tensor<4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}, tensor<4xf32> {weft.output = "u"}, tensor<4xf32> {weft.output = "v"},
        tensor<4xf32> {weft.output = "w"}) attributes {kind = #weft.kind<micro>} {
  %a = weft.read @a : tensor<4xf32>
  %b = weft.read @b : tensor<4xf32>
  %c = weft.read @c : tensor<4xf32>
  %p = weft.mul %x, %a {weft.scope = "h.0.attn"} : tensor<4xf32>, tensor<4xf32>
  %q = weft.mul %p, %b {weft.scope = "h.1.attn"} : tensor<4xf32>, tensor<4xf32>
  %r = weft.mul %q, %c {weft.scope = "h.1.mlp"} : tensor<4xf32>, tensor<4xf32>
  %loss = weft.reduce sum %r dims [0] : tensor<4xf32>
  %u = weft.exp %c {weft.scope = "h.1.mlp"} : tensor<4xf32>
  %v = weft.exp %b {weft.scope = "h.1.attn"} : tensor<4xf32>
  %w = weft.exp %a {weft.scope = "h.0.attn"} : tensor<4xf32>
  weft.return %loss, %u, %v, %w : tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
