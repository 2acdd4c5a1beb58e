// RUN: weft-opt %s --split-input-file --weft-bucket=align=16 --remarks-filter=sharding --verify-diagnostics

// A rule decides where it says what the layout says; a frozen parameter that rules
// let stages shard is whole by a stage that shards none.

dist.mesh @mesh("dp" = 2)
// expected-remark @+1 {{h.0.w is sharded on dp by the ZeRO stage: unit h.0, bucket h.0.flat, elements 0 to 16}}
weft.param @h.0.w : tensor<4x4xf32> {dist.layout = #dist.layout<sharded on "dp">}
// expected-remark @+1 {{h.0.v is sharded on dp by rules.toml:3: unit h.0, bucket h.0.flat, elements 16 to 20}}
weft.param @h.0.v : tensor<4xf32> {dist.layout = #dist.layout<sharded on "dp">, dist.rule = #dist.rule<sharded by "rules.toml:3">}
// expected-remark @+1 {{h.0.b is replicated by --shard-min=5: unit h.0, bucket h.0.flat.1, elements 0 to 4}}
weft.param @h.0.b : tensor<4xf32> {dist.layout = #dist.layout<replicated>, dist.rule = #dist.rule<replicated by "--shard-min=5">}
// expected-remark @+1 {{h.0.e is replicated by the ZeRO stage: unit h.0, bucket h.0.flat.2, elements 0 to 4}}
weft.param @h.0.e : tensor<4xf32> {dist.layout = #dist.layout<replicated>, dist.rule = #dist.rule<sharded by "rules.toml:3">, trainable = false}

// -----

// expected-remark @+1 {{a is on one rank: unit a, bucket a.flat, elements 0 to 4}}
weft.param @a : tensor<4xf32>
// expected-remark @+1 {{b is on one rank: unit a, bucket a.flat, elements 16 to 20}}
weft.param @b : tensor<4xf32>
