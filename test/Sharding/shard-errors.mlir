// RUN: not weft-opt %s --weft-shard="mesh=dp:0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not weft-opt %s --weft-shard="mesh=tp:2" 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not weft-opt %s --weft-shard="mesh=shard:2,replica:2" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not weft-opt %s --weft-shard="mesh=replica:100000,shard:2" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not weft-opt %s --weft-shard="mesh=dp:99999999999999999999" 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not weft-opt %s --weft-shard="mesh=dp:2 zero=4" 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not weft-opt %s --weft-shard="mesh=dp:2 gradients=gathered" 2>&1 | FileCheck %s --check-prefix=LAYOUT
// RUN: not weft-opt %s --weft-shard="mesh=dp:2 min=-1" 2>&1 | FileCheck %s --check-prefix=MIN
// RUN: not weft-opt %s --weft-shard="mesh=dp:2" --weft-shard="mesh=dp:2" 2>&1 | FileCheck %s --check-prefix=TWICE

// Meshes and stages that are none are errors on the module.

// MIN: error: expects min of at least 0, but got -1
// LAYOUT: for the --gradients option: Cannot find option named 'gathered'!
// ZERO: error: expects mesh to be dp:N or replica:R,shard:S of 1 to 100000 ranks, but got 'dp:0'
// AXIS: error: expects mesh to be dp:N or replica:R,shard:S of 1 to 100000 ranks, but got 'tp:2'
// ORDER: error: expects mesh to be dp:N or replica:R,shard:S of 1 to 100000 ranks, but got 'shard:2,replica:2'
// MANY: error: expects mesh to be dp:N or replica:R,shard:S of 1 to 100000 ranks, but got 'replica:100000,shard:2'
// HUGE: error: expects mesh to be dp:N or replica:R,shard:S of 1 to 100000 ranks, but got 'dp:99999999999999999999'
// STAGE: error: expects zero of 0 to 3, but got 4
// TWICE: error: 'dist.mesh' op expects a module without a mesh for weft-shard, but got @mesh
weft.param @w : tensor<4xf32>
