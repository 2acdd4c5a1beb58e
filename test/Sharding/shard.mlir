// RUN: weft-opt %s --weft-shard="mesh=dp:4 gradients=replicated zero=1" | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: weft-opt %s --weft-shard="mesh=dp:4 gradients=replicated" | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: weft-opt %s --weft-shard="mesh=dp:4 zero=2" | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: weft-opt %s --weft-shard="mesh=dp:4 gradients=replicated zero=2" | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: weft-opt %s --weft-shard="mesh=replica:2,shard:4 zero=3" | FileCheck %s --check-prefix=THREE

// Each stage shards what the one before it shards, and more; types and programs
// stay as they are. Gradients that every rank adds up until the last micro-step are
// whole.

// CHECK: dist.mesh @mesh.1("dp" = 4)
// THREE: dist.mesh @mesh.1("replica" = 2, "shard" = 4)

// NONE: weft.param @mesh : tensor<16x8xf32> {dist.layout = #dist.layout<replicated>}
// ONE: weft.param @mesh : tensor<16x8xf32> {dist.layout = #dist.layout<sharded on "dp">}
// TWO: weft.param @mesh : tensor<16x8xf32> {dist.layout = #dist.layout<sharded on "dp">}
// THREE: weft.param @mesh : tensor<16x8xf32> {dist.layout = #dist.layout<sharded on "shard">}
weft.param @mesh : tensor<16x8xf32>
// CHECK: weft.param @frozen : tensor<4xf32> {dist.layout = #dist.layout<replicated>, trainable = false}
// THREE: weft.param @frozen : tensor<4xf32> {dist.layout = #dist.layout<sharded on "shard">, trainable = false}
weft.param @frozen : tensor<4xf32> {trainable = false}
// NONE: weft.state @mesh.grad : tensor<16x8xf32> {dist.layout = #dist.layout<replicated>
// ONE: weft.state @mesh.grad : tensor<16x8xf32> {dist.layout = #dist.layout<replicated>
// TWO: weft.state @mesh.grad : tensor<16x8xf32> {dist.layout = #dist.layout<sharded on "dp">
// THREE: weft.state @mesh.grad : tensor<16x8xf32> {dist.layout = #dist.layout<sharded on "shard">
weft.state @mesh.grad : tensor<16x8xf32> {kind = #weft.state_kind<gradient>, param = @mesh}
// NONE: weft.state @mesh.exp_avg : tensor<16x8xf32> {dist.layout = #dist.layout<replicated>
// ONE: weft.state @mesh.exp_avg : tensor<16x8xf32> {dist.layout = #dist.layout<sharded on "dp">
// THREE: weft.state @mesh.exp_avg : tensor<16x8xf32> {dist.layout = #dist.layout<sharded on "shard">
weft.state @mesh.exp_avg : tensor<16x8xf32> {kind = #weft.state_kind<optimizer>, param = @mesh}
// CHECK: weft.state @mesh.working : tensor<16x8xf16> {dist.layout = #dist.layout<replicated>
// THREE: weft.state @mesh.working : tensor<16x8xf16> {dist.layout = #dist.layout<sharded on "shard">
weft.state @mesh.working : tensor<16x8xf16> {kind = #weft.state_kind<working>, param = @mesh}
// CHECK: weft.state @step : tensor<i64> {dist.layout = #dist.layout<replicated>
// THREE: weft.state @step : tensor<i64> {dist.layout = #dist.layout<replicated>
weft.state @step : tensor<i64> {kind = #weft.state_kind<optimizer>}
