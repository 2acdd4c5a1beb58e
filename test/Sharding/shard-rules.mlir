// RUN: split-file %s %t
// RUN: weft-opt %t/model.mlir "--weft-shard=mesh=dp:2 zero=3 min=100 rules=%t/rules.toml" | FileCheck %t/model.mlir --check-prefixes=CHECK,THREE
// RUN: weft-opt %t/model.mlir "--weft-shard=mesh=dp:2 gradients=replicated zero=1 min=100 rules=%t/rules.toml" | FileCheck %t/model.mlir --check-prefixes=CHECK,ONE
// RUN: weft-opt %t/model.mlir "--weft-shard=mesh=dp:2 gradients=replicated" | FileCheck %t/model.mlir --check-prefix=NO-RULES
// RUN: weft-opt %t/model.mlir "--weft-shard=mesh=dp:2 gradients=replicated min=100 rules=%t/rules.toml" --weft-bucket=align=1 | FileCheck %t/model.mlir --check-prefix=FLAT
// RUN: weft-opt %t/model.mlir "--weft-shard=mesh=dp:2 gradients=replicated zero=3 min=100 rules=%t/rules.toml" --weft-bucket=align=1 | FileCheck %t/model.mlir --check-prefix=FLAT

// The first rule that finds a parameter decides: a scope that is an attribute or
// the name without its last word, trained and frozen ones apart, and before the
// limit of small ones. What no rule finds is as stage and limit say.

//--- rules.toml
[[rule]]
match = "bias$"
layout = "replicated"

[[rule]]
scope = '^h\.0$'
trainable = false
layout = "sharded"

[[rule]]
scope = '^h\.'
trainable = true
layout = "sharded"

[[rule]]
match = "^wte$"
scope = "embedding"
layout = "replicated"

//--- model.mlir
// NO-RULES-NOT: dist.rule

// CHECK: weft.param @wte : tensor<200xf32> {dist.layout = #dist.layout<replicated>, dist.rule = #dist.rule<replicated by "{{.*}}rules.toml:15">, scope = "embedding"}
weft.param @wte : tensor<200xf32> {scope = "embedding"}
// THREE-NEXT: weft.param @wpe : tensor<200xf32> {dist.layout = #dist.layout<sharded on "dp">, scope = "embedding"}
// ONE-NEXT: weft.param @wpe : tensor<200xf32> {dist.layout = #dist.layout<sharded on "dp">, scope = "embedding"}
weft.param @wpe : tensor<200xf32> {scope = "embedding"}
// CHECK-NEXT: weft.param @h.0.weight : tensor<8xf32> {dist.layout = #dist.layout<sharded on "dp">, dist.rule = #dist.rule<sharded by "{{.*}}rules.toml:10">}
weft.param @h.0.weight : tensor<8xf32>
// CHECK-NEXT: weft.param @h.0.bias : tensor<200xf32> {dist.layout = #dist.layout<replicated>, dist.rule = #dist.rule<replicated by "{{.*}}rules.toml:1">}
weft.param @h.0.bias : tensor<200xf32>
// THREE-NEXT: weft.param @h.0.mask : tensor<8xf32> {dist.layout = #dist.layout<sharded on "dp">, dist.rule = #dist.rule<sharded by "{{.*}}rules.toml:5">, trainable = false}
// ONE-NEXT: weft.param @h.0.mask : tensor<8xf32> {dist.layout = #dist.layout<replicated>, dist.rule = #dist.rule<sharded by "{{.*}}rules.toml:5">, trainable = false}
weft.param @h.0.mask : tensor<8xf32> {trainable = false}
// CHECK-NEXT: weft.param @h.1.mask : tensor<8xf32> {dist.layout = #dist.layout<replicated>, dist.rule = #dist.rule<replicated by "--shard-min=100">, trainable = false}
weft.param @h.1.mask : tensor<8xf32> {trainable = false}

// FLAT: weft.param @embedding.flat : {{.*}}[#weft.segment<@wte [200] at 0 to 200>]
// FLAT: weft.param @embedding.flat.1 : {{.*}}[#weft.segment<@wpe [200] at 0 to 200>]
// FLAT: weft.param @h.0.flat : {{.*}}[#weft.segment<@h.0.weight [8] at 0 to 8>]
// FLAT: weft.param @h.0.flat.1 : {{.*}}[#weft.segment<@h.0.bias [200] at 0 to 200>]
// FLAT: weft.param @h.0.flat.2 : {{.*}}[#weft.segment<@h.0.mask [8] at 0 to 8>]
// FLAT: weft.param @h.1.flat : {{.*}}[#weft.segment<@h.1.mask [8] at 0 to 8>]

// THREE: weft.state @h.0.weight.grad : tensor<8xf32> {dist.layout = #dist.layout<sharded on "dp">
// CHECK: weft.state @h.0.bias.grad : tensor<200xf32> {dist.layout = #dist.layout<replicated>
weft.state @h.0.weight.grad : tensor<8xf32> {kind = #weft.state_kind<gradient>, param = @h.0.weight}
weft.state @h.0.bias.grad : tensor<200xf32> {kind = #weft.state_kind<gradient>, param = @h.0.bias}
