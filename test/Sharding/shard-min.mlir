// RUN: weft-opt %s --weft-shard="mesh=dp:2 zero=3 min=8" | FileCheck %s --check-prefixes=RULE,THREE
// RUN: weft-opt %s --weft-shard="mesh=dp:2 gradients=replicated min=8" | FileCheck %s --check-prefixes=RULE,NONE
// RUN: weft-opt %s --weft-shard="mesh=dp:2 gradients=replicated zero=3" | FileCheck %s --check-prefix=OFF
// RUN: weft-opt %s --weft-shard="mesh=dp:2 zero=3 min=8" --weft-bucket=align=4 | FileCheck %s --check-prefixes=FLAT,FLAT3
// RUN: weft-opt %s --weft-shard="mesh=dp:2 gradients=replicated zero=1 min=8" --weft-bucket=align=4 | FileCheck %s --check-prefixes=FLAT,FLAT1
// RUN: weft-opt %s --weft-shard="mesh=dp:2 gradients=replicated min=8" --weft-bucket=align=4 | FileCheck %s --check-prefix=FLAT
// RUN: weft-opt %s --weft-shard="mesh=dp:1 gradients=replicated zero=3 min=8" --weft-bucket=align=4 --weft-partition | FileCheck %s --check-prefix=ONE
// RUN: weft-opt %s --weft-shard="mesh=dp:2 gradients=replicated zero=3 min=8" --weft-bucket=align=4 --weft-partition | FileCheck %s --check-prefix=TWO

// Small parameters, their gradients and their moments are whole at every stage;
// buckets keep them apart at every stage, 0 too.

// OFF-NOT: dist.rule

// THREE: weft.param @h.0.w : tensor<4x2xf32> {dist.layout = #dist.layout<sharded on "dp">}
// NONE: weft.param @h.0.w : tensor<4x2xf32> {dist.layout = #dist.layout<replicated>}
// RULE-NEXT: weft.param @h.0.b : tensor<7xf32> {dist.layout = #dist.layout<replicated>, dist.rule = #dist.rule<replicated by "--shard-min=8">}
// THREE-NEXT: weft.param @h.0.e : tensor<8xf32> {dist.layout = #dist.layout<sharded on "dp">, trainable = false}
// NONE-NEXT: weft.param @h.0.e : tensor<8xf32> {dist.layout = #dist.layout<replicated>, trainable = false}
// RULE-NEXT: weft.param @h.0.s : tensor<f32> {dist.layout = #dist.layout<replicated>, dist.rule = #dist.rule<replicated by "--shard-min=8">, trainable = false}
// THREE: weft.state @h.0.w.grad : {{.*}}sharded
// RULE: weft.state @h.0.b.grad : tensor<7xf32> {dist.layout = #dist.layout<replicated>
// THREE: weft.state @h.0.w.exp_avg : {{.*}}sharded
// RULE: weft.state @h.0.b.exp_avg : tensor<7xf32> {dist.layout = #dist.layout<replicated>

// FLAT3: weft.param @h.0.flat : {{.*}}dist.layout = #dist.layout<sharded
// FLAT1: weft.param @h.0.flat : {{.*}}dist.layout = #dist.layout<sharded
// FLAT: weft.param @h.0.flat.1 : {{.*}}dist.layout = #dist.layout<replicated>, {{.*}}@h.0.b [7] at 0 to 7>]}
// FLAT3: weft.param @h.0.flat.2 : {{.*}}dist.layout = #dist.layout<sharded
// FLAT1: weft.param @h.0.flat.2 : {{.*}}dist.layout = #dist.layout<replicated
// FLAT: weft.param @h.0.flat.3 : {{.*}}dist.layout = #dist.layout<replicated>, {{.*}}@h.0.s [] at 0 to 1>]
// FLAT-NOT: dist.rule

// ONE: weft.param @h.0.flat : tensor<8xf32> {{.*}}<sharded
// ONE: weft.param @h.0.flat.1 : tensor<8xf32> {{.*}}<replicated
// TWO: weft.param @h.0.flat : tensor<4xf32> {{.*}}<sharded {{.*}}slices = 2
// TWO: weft.param @h.0.flat.1 : tensor<8xf32> {{.*}}<replicated
// TWO: weft.state @h.0.flat.1.exp_avg : tensor<8xf32>

weft.param @h.0.w : tensor<4x2xf32>
weft.param @h.0.b : tensor<7xf32>
weft.param @h.0.e : tensor<8xf32> {trainable = false}
weft.param @h.0.s : tensor<f32> {trainable = false}
weft.state @h.0.w.grad : tensor<4x2xf32> {kind = #weft.state_kind<gradient>, param = @h.0.w}
weft.state @h.0.b.grad : tensor<7xf32> {kind = #weft.state_kind<gradient>, param = @h.0.b}
weft.state @h.0.w.exp_avg : tensor<4x2xf32> {kind = #weft.state_kind<optimizer>, param = @h.0.w}
weft.state @h.0.b.exp_avg : tensor<7xf32> {kind = #weft.state_kind<optimizer>, param = @h.0.b}
