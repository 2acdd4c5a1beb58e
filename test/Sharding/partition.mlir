// RUN: weft-opt %s --split-input-file --weft-partition | FileCheck %s

// A step of four ranks that all hold everything: gradients become the mean over
// all ranks, slice by slice, and what the check of the slices found is joined
// before the norm has its root.

// CHECK-LABEL: module @replicated
module @replicated {
  dist.mesh @mesh("dp" = 4)
  weft.param @fc.flat : tensor<16xf32> {dist.layout = #dist.layout<replicated>,
      segments = [#weft.segment<@fc.weight [3, 4] at 0 to 12>, #weft.segment<@fc.bias [2] at 12 to 14>]}
  weft.state @fc.flat.grad : tensor<16xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @fc.flat, slot = "grad",
      segments = [#weft.segment<@fc.weight [3, 4] at 0 to 12>, #weft.segment<@fc.bias [2] at 12 to 14>]}
  weft.state @fc.flat.momentum_buffer : tensor<16xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<optimizer>, param = @fc.flat, slot = "momentum_buffer",
      segments = [#weft.segment<@fc.weight [3, 4] at 0 to 12>, #weft.segment<@fc.bias [2] at 12 to 14>]}
  weft.state @step : tensor<i64> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<optimizer>}

  // CHECK: weft.program @apply
  // CHECK-DAG: %[[W:.*]] = weft.read @fc.flat :
  // CHECK-DAG: %[[M:.*]] = weft.read @fc.flat.momentum_buffer
  // CHECK: %[[G:.*]] = weft.read @fc.flat.grad
  // CHECK-NEXT: %[[S:.*]] = dist.reduce_scatter %[[G]] on @mesh {post = 2.000000e+00 : f64, pre = 2.000000e+00 : f64} : tensor<16xf32> to tensor<4xf32>
  // CHECK-NOT: weft.slice
  // CHECK: %[[OWN:.*]], %[[HERE:.*]] = weft.norm_and_check %[[S]] {p = 2.000000e+00 : f64, powers} : tensor<4xf32>
  // CHECK-NEXT: %[[ALL:.*]]:2 = dist.all_reduce %[[OWN]], %[[HERE]] by [sum, or] on @mesh : tensor<f64>, tensor<i1>
  // CHECK-NEXT: %[[NORM:.*]] = weft.total_norm %[[ALL]]#0 skip %[[ALL]]#1 {p = 2.000000e+00 : f64, powers}
  // CHECK: %[[COEF:.*]] = weft.clip_coefficient %[[NORM]]
  // CHECK: %[[FULL:.*]] = dist.all_gather %[[S]] on @mesh : tensor<4xf32> to tensor<16xf32>
  // CHECK-NEXT: weft.sgd(%[[W]], %[[M]], %[[FULL]], %[[COEF]], %[[ALL]]#1,
  // CHECK: weft.return %[[NORM]], %[[ALL]]#1
  weft.program @apply(%lr: tensor<f64> {weft.input = "lr"}, %wd: tensor<f64> {weft.input = "weight_decay"}, %mu: tensor<f64> {weft.input = "momentum"}, %max: tensor<f64> {weft.input = "max_norm"})
      -> (tensor<f64> {weft.output = "grad_norm"}, tensor<i1> {weft.output = "found_inf"}) attributes {kind = #weft.kind<apply>} {
    %w = weft.read @fc.flat : tensor<16xf32>
    %m = weft.read @fc.flat.momentum_buffer : tensor<16xf32>
    %g = weft.read @fc.flat.grad : tensor<16xf32>
    %gw = weft.slice %g offsets [0] sizes [12] strides [1] : tensor<16xf32>
    %gw2 = weft.reshape %gw : tensor<12xf32> to tensor<3x4xf32>
    %gb = weft.slice %g offsets [12] sizes [2] strides [1] : tensor<16xf32>
    %n, %bad = weft.norm_and_check %gw2, %gb {p = 2.0 : f64} : tensor<3x4xf32>, tensor<2xf32>
    %c = weft.clip_coefficient %n, %max
    %s0 = weft.read @step : tensor<i64>
    %s = weft.step_increment %s0, %bad
    %w1, %m1 = weft.sgd(%w, %m, %g, %c, %bad, %s, %lr, %wd, %mu) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<16xf32>, tensor<16xf32>)
    weft.return %n, %bad : tensor<f64>, tensor<i1> writes @fc.flat = %w1 : tensor<16xf32>, @fc.flat.momentum_buffer = %m1 : tensor<16xf32>, @step = %s : tensor<i64>
  }
}

// -----

// With a loss scale each instance of the optimizer is checked alone, all of them
// in one message; the norm of all adds up their sums.

// CHECK-LABEL: module @instances
module @instances {
  dist.mesh @mesh("dp" = 3)
  weft.param @a.flat : tensor<6xf16> {dist.layout = #dist.layout<replicated>, segments = [#weft.segment<@a [5] at 0 to 5>]}
  weft.param @b.flat : tensor<3xf32> {dist.layout = #dist.layout<replicated>, segments = [#weft.segment<@b [3] at 0 to 3>]}
  weft.state @a.flat.grad : tensor<6xf16> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @a.flat, slot = "grad", segments = [#weft.segment<@a [5] at 0 to 5>]}
  weft.state @b.flat.grad : tensor<3xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @b.flat, slot = "grad", segments = [#weft.segment<@b [3] at 0 to 3>]}
  // CHECK: dist.reduce_scatter %{{.*}} on @mesh {post = 1.500000e+00 : f64, pre = 2.000000e+00 : f64} : tensor<6xf16> to tensor<2xf16>
  // CHECK-NOT: all_gather
  // CHECK: %[[NA:.*]], %[[BA:.*]] = weft.norm_and_check %{{.*}} {p = 0x7FF0000000000000 : f64, powers} : tensor<2xf16>
  // CHECK: %[[NB:.*]], %[[BB:.*]] = weft.norm_and_check %{{.*}} {p = 0x7FF0000000000000 : f64, powers} : tensor<1xf32>
  // CHECK: %[[ALL:.*]]:4 = dist.all_reduce %[[NA]], %[[BA]], %[[NB]], %[[BB]] by [max, or, max, or] on @mesh
  // CHECK: weft.total_norm %[[ALL]]#0, %[[ALL]]#2 skip %[[ALL]]#1, %[[ALL]]#3 {p = 0x7FF0000000000000 : f64, powers}
  weft.program @apply() -> (tensor<f64> {weft.output = "grad_norm"}) attributes {kind = #weft.kind<apply>} {
    %ga = weft.read @a.flat.grad : tensor<6xf16>
    %gb = weft.read @b.flat.grad : tensor<3xf32>
    %na, %ba = weft.norm_and_check %ga {p = 0x7FF0000000000000 : f64} : tensor<6xf16>
    %nb, %bb = weft.norm_and_check %gb {p = 0x7FF0000000000000 : f64} : tensor<3xf32>
    %n = weft.total_norm %na, %nb skip %ba, %bb {p = 0x7FF0000000000000 : f64}
    weft.return %n : tensor<f64>
  }
}

// -----

// Replicas of two shards: the shards of a replica are reduced, then the replicas, which
// divide the shards; numbers are combined over the shards of a replica.

// CHECK-LABEL: module @hybrid
module @hybrid {
  dist.mesh @mesh("replica" = 3, "shard" = 2)
  weft.param @w.flat : tensor<12xf32> {dist.layout = #dist.layout<replicated>, segments = [#weft.segment<@w [11] at 0 to 11>]}
  weft.state @w.flat.grad : tensor<12xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @w.flat, slot = "grad", segments = [#weft.segment<@w [11] at 0 to 11>]}
  // CHECK: weft.state @w.flat.momentum_buffer : tensor<6xf32> {{.*}}slices = 2
  weft.state @w.flat.momentum_buffer : tensor<12xf32> {dist.layout = #dist.layout<sharded on "shard">, kind = #weft.state_kind<optimizer>, param = @w.flat, slot = "momentum_buffer", segments = [#weft.segment<@w [11] at 0 to 11>]}
  // CHECK: weft.program @apply
  // CHECK: %[[G:.*]] = weft.read @w.flat.grad
  // CHECK-NEXT: %[[MINE:.*]] = dist.reduce_scatter %[[G]] on @mesh["shard"] {post = 1.000000e+00 : f64, pre = 2.000000e+00 : f64} : tensor<12xf32> to tensor<6xf32>
  // CHECK-NEXT: %[[PART:.*]] = dist.reduce_scatter %[[MINE]] on @mesh["replica"] {post = 1.500000e+00 : f64, pre = 2.000000e+00 : f64} : tensor<6xf32> to tensor<2xf32>
  // CHECK-NEXT: %[[S:.*]] = dist.all_gather %[[PART]] on @mesh["replica"] {{.*}}: tensor<2xf32> to tensor<6xf32>
  // CHECK: %[[OWN:.*]], %[[HERE:.*]] = weft.norm_and_check %[[S]]
  // CHECK-NEXT: dist.all_reduce %[[OWN]], %[[HERE]] by [sum, or] on @mesh["shard"]
  // CHECK: %[[FULL:.*]] = dist.all_gather %[[S]] on @mesh["shard"] : tensor<6xf32> to tensor<12xf32>
  // CHECK: weft.return %{{.*}} writes @w.flat = %[[FULL]]
  weft.program @apply() -> (tensor<f64> {weft.output = "grad_norm"}) attributes {kind = #weft.kind<apply>} {
    %g = weft.read @w.flat.grad : tensor<12xf32>
    %n, %b = weft.norm_and_check %g {p = 2.0 : f64} : tensor<12xf32>
    weft.return %n : tensor<f64> writes @w.flat = %g : tensor<12xf32>
  }
}

// -----

// Micro-steps have reduced the gradient, whose slice is gathered for an update of the
// whole: nothing reads it as it was.

// CHECK-LABEL: module @each
module @each {
  dist.mesh @mesh("dp" = 2)
  weft.param @w.flat : tensor<4xf32> {dist.layout = #dist.layout<replicated>, segments = [#weft.segment<@w [4] at 0 to 4>]}
  // CHECK: weft.state @w.flat.grad : tensor<2xf32>
  weft.state @w.flat.grad : tensor<4xf32> {dist.layout = #dist.layout<sharded on "dp">, kind = #weft.state_kind<gradient>, param = @w.flat, slot = "grad", segments = [#weft.segment<@w [4] at 0 to 4>]}
  // CHECK: weft.program @apply
  // CHECK-NEXT: %[[S:.*]] = weft.read @w.flat.grad : tensor<2xf32>
  // CHECK-NEXT: weft.norm_and_check %[[S]]
  // CHECK-NOT: weft.read
  // CHECK: %[[FULL:.*]] = dist.all_gather %[[S]] on @mesh : tensor<2xf32> to tensor<4xf32>
  // CHECK-NEXT: weft.return %{{.*}} writes @w.flat = %[[FULL]]
  weft.program @apply() -> (tensor<f64> {weft.output = "grad_norm"}) attributes {kind = #weft.kind<apply>} {
    %g = weft.read @w.flat.grad : tensor<4xf32>
    %n, %b = weft.norm_and_check %g {p = 2.0 : f64} : tensor<4xf32>
    weft.return %n : tensor<f64> writes @w.flat = %g : tensor<4xf32>
  }
}

// -----

// Without a mesh there is nothing to partition.

// CHECK-LABEL: module @alone
// CHECK-NOT: dist.
module @alone {
  weft.param @w : tensor<4xf32>
  weft.state @w.grad : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}
  weft.program @apply() -> (tensor<f64> {weft.output = "grad_norm"}) attributes {kind = #weft.kind<apply>} {
    %g = weft.read @w.grad : tensor<4xf32>
    %n, %b = weft.norm_and_check %g {p = 2.0 : f64} : tensor<4xf32>
    weft.return %n : tensor<f64>
  }
}
