// RUN: split-file %s %t
// RUN: weft-opt --weft-estimate=cluster=%t/cluster.toml %t/plan.mlir | FileCheck %s
// RUN: weft-opt --weft-estimate='cluster=%t/cores.toml cost-table=%t/costs.toml' %t/plan.mlir | FileCheck %s --check-prefix=CORES
// RUN: sed 's/^latency_us = 5$/latency_us = 0/' %t/cluster.toml > %t/free.toml && weft-opt --weft-estimate=cluster=%t/free.toml %t/plan.mlir | FileCheck %s --check-prefix=FREE
// RUN: sed 's/^overhead_us = 3$/overhead_us = 0/' %t/costs.toml > %t/free-costs.toml && weft-opt --weft-estimate='cluster=%t/cores.toml cost-table=%t/free-costs.toml' %t/plan.mlir | FileCheck %s --check-prefix=LAUNCH
// RUN: not weft-opt --weft-estimate='cluster=%t/cluster.toml cost-table=%t/costs.toml' %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not weft-opt --weft-estimate=cluster=%t/one.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not weft-opt --weft-estimate=cluster=%t/key.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not weft-opt --weft-estimate=cluster=%t/ranks.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not weft-opt --weft-estimate=cluster=%t/half.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: not weft-opt --weft-estimate=cluster=%t/way.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=WAY
// RUN: not weft-opt --weft-estimate=cluster=%t/link.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=LINK
// RUN: not weft-opt --weft-estimate=cluster=%t/rate.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=RATE
// RUN: not weft-opt --weft-estimate=cluster=%t/text.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not weft-opt --weft-estimate=cluster=%t/network.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=NETWORK
// RUN: not weft-opt --weft-estimate=cluster=%t/costs-key.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=COSTS
// RUN: not weft-opt --weft-estimate=cluster=%t/none.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not weft-opt --weft-estimate=cluster=%t/share.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=SHARE
// RUN: not weft-opt --weft-estimate=cluster=%t/nan.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not weft-opt --weft-estimate=cluster=%t/tiny.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=TINY
// RUN: not weft-opt --weft-estimate=cluster=%t/entry.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not weft-opt --weft-estimate=cluster=%t/costs-number.toml %t/plan.mlir 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: sed 's/^ranks/algorithm = "direct"\nranks/' %t/cluster.toml > %t/direct.toml && weft-opt --weft-estimate=cluster=%t/direct.toml %t/plan.mlir | FileCheck %s --check-prefix=DIRECT
// RUN: sed 's/^ranks/algorithm = "hierarchical"\nranks/' %t/cluster.toml > %t/hierarchical.toml && weft-opt --weft-estimate=cluster=%t/hierarchical.toml %t/plan.mlir | FileCheck %s --check-prefix=LEVELS

// Ranks 0 to 3 are on one node, 4 to 7 on the other one. A slice of four ranks
// is a node; its replicas share the network with three others.

//--- cluster.toml
target = "cpu"
ranks_per_node = 4
[node]
gigabytes_per_second = 100
latency_us = 5
[network]
gigabytes_per_second = 40
latency_us = 20
[costs.link]
slows_compute = 0.5
slows_compute_across = 0

//--- plan.mlir
// CHECK: plan.speeds = {{{.*}}slows_compute = 5.000000e-01 : f64, slows_compute_across = 0.000000e+00 : f64}
dist.mesh @mesh("replica" = 2, "shard" = 4)
plan.program "eval" @eval {
  %s = plan.alloc temporary : memref<250000xf32>
  %t = plan.alloc temporary : memref<250000xf32>
  %f = plan.alloc temporary : memref<1000000xf32>
  %g = plan.alloc temporary : memref<500000xf32>
  %a = plan.alloc temporary : memref<2000000xf32>
  %n = plan.alloc temporary : memref<f64>
  %m = plan.alloc temporary : memref<f64>
  // CORES: plan.all_gather {{.*}} along "shard" {est_us = 2.100000e+03 : f64, link_us = 2.000000e+03 : f64}
  // CHECK: plan.all_gather {{.*}} along "shard" {est_us = 4.500000e+01 : f64, link = "node", link_us = 3.000000e+01 : f64}
  plan.all_gather %s to %f among 4 along "shard" : memref<250000xf32> to memref<1000000xf32>
  // CHECK: plan.all_gather {{.*}} along "replica" {est_us = 1.200000e+02 : f64, link = "network", link_us = 1.000000e+02 : f64}
  plan.all_gather %s to %g among 2 along "replica" : memref<250000xf32> to memref<500000xf32>
  // Four ranks of a node share 40 GB/s: 4 MB of each to the other node, 10 GB/s.
  // DIRECT: plan.all_gather {{.*}} among 8 {est_us = 4.200000e+02 : f64, link = "network", link_us = 4.000000e+02 : f64}
  // 1 MB of each to the other node, then three times 2 MB at 100 GB/s.
  // LEVELS: plan.all_gather {{.*}} among 8 {est_us = 1.950000e+02 : f64, link = "network", link_us = 1.600000e+02 : f64}
  // CHECK: plan.all_gather {{.*}} among 8 {est_us = 2.250000e+02 : f64, link = "network", link_us = 1.750000e+02 : f64}
  plan.all_gather %s to %a among 8 : memref<250000xf32> to memref<2000000xf32>
  // FREE: plan.reduce_scatter {{.*}} along "shard" {est_us = 3.000000e+01 : f64, link = "node", link_us = 3.000000e+01 : f64}
  // CHECK: plan.reduce_scatter {{.*}} along "shard" {est_us = 4.500000e+01 : f64, link = "node", link_us = 3.000000e+01 : f64}
  plan.reduce_scatter %f to %s by 2.0, 2.0 among 4 along "shard" : memref<1000000xf32> to memref<250000xf32>
  // CHECK: plan.all_reduce {{.*}} among 8 {est_us = 60.0019{{[0-9]+}} : f64
  plan.all_reduce %n by ["sum"] to %m among 8 : memref<f64> to memref<f64>
  // Without links the cost table has them; ranks that share a core take turns:
  // 1 MB read, 1 MB written at 10 GB/s, twice.
  // CORES: plan.copy {{.*}} {est_us = 4.060000e+02 : f64}
  // LAUNCH: plan.copy {{.*}} {est_us = 4.000000e+02 : f64}
  plan.copy %s to %t : memref<250000xf32> to memref<250000xf32>
}

//--- cores.toml
target = "cpu"
ranks_per_node = 8
ranks_per_core = 2

//--- costs.toml
gigabytes_per_second = 10
overhead_us = 3

//--- one.toml
target = "cpu"
ranks_per_node = 4
[node]
gigabytes_per_second = 100
latency_us = 5
# ONE: one.toml:1:1: error: expects a `network`: 2 ranks send to each other on nodes of 4

//--- key.toml
nodes = 4
# KEY: key.toml:1:{{[0-9]+}}: error: expects target, ranks_per_node, ranks_per_core, algorithm, node, network or costs, but got `nodes`

//--- ranks.toml
ranks_per_node = 0
# RANKS: ranks.toml:1:{{[0-9]+}}: error: expects `ranks_per_node` to be an integer from 1 to 100000, but got 0

//--- half.toml
ranks_per_node = 1.5
# HALF: half.toml:1:{{[0-9]+}}: error: expects `ranks_per_node` to be an integer from 1 to 100000, but got 1.500000

//--- way.toml
algorithm = "tree"
# WAY: way.toml:1:{{[0-9]+}}: error: expects `algorithm` to be "ring", "direct" or "hierarchical", but got "tree"

//--- link.toml
[node]
gigabytes_per_second = 100
# LINK: link.toml:1:{{[0-9]+}}: error: expects gigabytes_per_second and latency_us in `node`

//--- rate.toml
[node]
gigabytes_per_second = -1
latency_us = 5
# RATE: rate.toml:2:{{[0-9]+}}: error: expects `gigabytes_per_second` to be a number from 1e-6 to 1e12, but got -1

//--- text.toml
node = "fast"
# TEXT: text.toml:1:{{[0-9]+}}: error: expects `node` to be a table of a link, but got "fast"

//--- network.toml
[network]
gigabytes_per_second = 100
latency_us = 5
# NETWORK: network.toml:1:{{[0-9]+}}: error: expects `network` only with a `node`

//--- costs-key.toml
ranks_per_node = 8
[costs]
speed = 5
# COSTS: costs-key.toml:3:{{[0-9]+}}: error: expects format, target, threads, gflops, gigabytes_per_second, overhead_us, an element type, link or a kind of command or kernel, but got `speed`

//--- share.toml
ranks_per_core = 0.5
# SHARE: share.toml:1:{{[0-9]+}}: error: expects `ranks_per_core` to be at least 1, but got 0.500000

//--- nan.toml
ranks_per_core = nan
# NAN: nan.toml:1:{{[0-9]+}}: error: expects `ranks_per_core` to be a number from 1e-6 to 1e12, but got nan

//--- tiny.toml
[node]
gigabytes_per_second = 5e-324
latency_us = 1
# TINY: tiny.toml:2:{{[0-9]+}}: error: expects `gigabytes_per_second` to be a number from 1e-6 to 1e12, but got

//--- entry.toml
[node]
speed = 1
# ENTRY: entry.toml:2:{{[0-9]+}}: error: expects gigabytes_per_second or latency_us, but got `speed`

//--- costs-number.toml
costs = 3
# NUMBER: costs-number.toml:1:{{[0-9]+}}: error: expects `costs` to be a cost table, but got

# BOTH: cluster.toml:1:1: error: expects no `costs` in addition to the cost table
# NONE: none.toml:0:0: error: expects a readable cluster, but got: No such file or directory
