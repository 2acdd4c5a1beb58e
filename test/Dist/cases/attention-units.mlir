// RUN: weft-opt %s --weft-bucket="rule=params:16 align=1" | FileCheck %s
// RUN: weft-opt %s --weft-bucket="rule=params:65 align=1" | FileCheck %s --check-prefix=BLOCK
// RUN: sed 's/h.0.attn/h.0/' %s | weft-opt --weft-bucket="rule=params:16 align=1" | FileCheck %s --check-prefix=SPLIT

// RUN: sed 's/h.0.attn/encoder/; s/h.0/encoder/' %s | weft-opt --weft-bucket="rule=params:16 align=1" | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/h.0.attn/layers.0.blocks.1/; s/h.0/layers.0.blocks.1/' %s | weft-opt --weft-bucket="rule=params:16 align=1" | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/weft.scope = "h.0.attn"/weft.scope = "h"/' %s | weft-opt --weft-bucket="rule=params:16 align=1" | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/weft.scope = "h.0.attn"/weft.scope = "g.0.h"/; s/scope = "h.0/scope = "g.0.h.0/' %s | weft-opt --weft-bucket="rule=params:16 align=1" | FileCheck %s --check-prefix=OTHER

// A module of attention is never divided, as FairScale's auto_wrap leaves a
// MultiheadAttention alone: each projection has the 16 elements of the limit, but the
// unit is their module of 64, beside the linear layers. If it has too few it is
// part of the enclosing unit. A block that directly contains attention is no such
// module, nor is a list of blocks, or a module outside of blocks.

// CHECK: weft.param @h.0.attn.flat : tensor<64xf32>
// CHECK: weft.param @h.0.mlp.up.flat : tensor<32xf32>
// CHECK: weft.param @h.0.mlp.down.flat : tensor<32xf32>
// CHECK-NOT: weft.param
// BLOCK: weft.param @h.0.flat : tensor<128xf32>
// BLOCK-NOT: weft.param
// SPLIT: weft.param @h.0.q.flat : tensor<16xf32>
// SPLIT-NEXT: weft.param @h.0.k.flat : tensor<16xf32>
// OTHER: weft.param @{{[a-z0-9.]*}}q.flat : tensor<16xf32>
// OTHER-NEXT: weft.param @{{[a-z0-9.]*}}k.flat : tensor<16xf32>
// OTHER: weft.param @{{[a-z0-9.]*}}up.flat : tensor<32xf32>
dist.mesh @mesh("dp" = 2)
weft.param @q : tensor<4x4xf32> {scope = "h.0.attn.q"}
weft.param @k : tensor<4x4xf32> {scope = "h.0.attn.k"}
weft.param @v : tensor<4x4xf32> {scope = "h.0.attn.v"}
weft.param @o : tensor<4x4xf32> {scope = "h.0.attn.o"}
weft.param @up : tensor<4x8xf32> {scope = "h.0.mlp.up"}
weft.param @down : tensor<8x4xf32> {scope = "h.0.mlp.down"}
weft.program @attend(%x: tensor<1x4x2x2xf32> {weft.input = "x"}) -> (tensor<1x4x2x2xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %out, %lse = weft.attention %x, %x, %x {scale = 1.0 : f64, weft.scope = "h.0.attn"} : tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>
  weft.return %out : tensor<1x4x2x2xf32>
}
