// RUN: weft-opt %s --split-input-file --weft-partition | FileCheck %s

// Whether a rank had gradients rides in the message that joins norms; an update happens
// if one of the ranks had some.

// CHECK-LABEL: module @ranks
module @ranks {
  dist.mesh @mesh("dp" = 2)
  weft.param @l.flat : tensor<4xf32> {dist.layout = #dist.layout<replicated>, segments = [#weft.segment<@l [4] at 0 to 4>]}
  weft.state @l.flat.grad : tensor<4xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @l.flat, slot = "grad", segments = [#weft.segment<@l [4] at 0 to 4>]}
  weft.state @l.flat.momentum_buffer : tensor<4xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<optimizer>, param = @l.flat, slot = "momentum_buffer", segments = [#weft.segment<@l [4] at 0 to 4>]}
  weft.state @presence.l : tensor<f32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<presence>}
  weft.state @step.presence.l : tensor<i64> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<optimizer>}
  // CHECK: weft.program @apply
  // CHECK: %[[OWN:.*]], %[[BAD:.*]] = weft.norm_and_check
  // CHECK: %[[COUNT:.*]] = weft.read @presence.l
  // CHECK: %[[HERE:.*]] = weft.compare gt %[[COUNT]], %{{.*}} : tensor<f32>, tensor<f32>
  // CHECK-NEXT: %[[ALL:.*]]:3 = dist.all_reduce %[[OWN]], %[[BAD]], %[[HERE]] by [sum, or, or] on @mesh : tensor<f64>, tensor<i1>, tensor<i1>
  // CHECK-NOT: weft.compare
  // CHECK: %[[ABSENT:.*]] = weft.not %[[ALL]]#2
  // CHECK: %[[SKIP:.*]] = weft.or %[[ALL]]#1, %[[ABSENT]]
  // CHECK: weft.sgd({{.*}}, %[[SKIP]],
  weft.program @apply(%lr: tensor<f64> {weft.input = "lr"}, %wd: tensor<f64> {weft.input = "weight_decay"}, %mu: tensor<f64> {weft.input = "momentum"}, %max: tensor<f64> {weft.input = "max_norm"})
      -> (tensor<f64> {weft.output = "grad_norm"}, tensor<i1> {weft.output = "found_inf"}) attributes {kind = #weft.kind<apply>} {
    %w = weft.read @l.flat : tensor<4xf32>
    %m = weft.read @l.flat.momentum_buffer : tensor<4xf32>
    %g = weft.read @l.flat.grad : tensor<4xf32>
    %n, %bad = weft.norm_and_check %g {p = 2.0 : f64} : tensor<4xf32>
    %c = weft.clip_coefficient %n, %max
    %p = weft.read @presence.l : tensor<f32>
    %zero = weft.constant dense<0.0> : tensor<f32>
    %there = weft.compare gt %p, %zero : tensor<f32>, tensor<f32>
    %absent = weft.not %there : tensor<i1>
    %skip = weft.or %bad, %absent : tensor<i1>, tensor<i1>
    %s0 = weft.read @step.presence.l : tensor<i64>
    %s = weft.step_increment %s0, %skip
    %w1, %m1 = weft.sgd(%w, %m, %g, %c, %skip, %s, %lr, %wd, %mu) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
    weft.return %n, %bad : tensor<f64>, tensor<i1> writes @l.flat = %w1 : tensor<4xf32>, @l.flat.momentum_buffer = %m1 : tensor<4xf32>, @step.presence.l = %s : tensor<i64>
  }
}

// -----

// Numbers of slices are the same on all replicas, whose rows are not: they ask each
// other first.

// CHECK-LABEL: module @replicas
module @replicas {
  dist.mesh @mesh("replica" = 2, "shard" = 2)
  weft.param @l.flat : tensor<4xf32> {dist.layout = #dist.layout<replicated>, segments = [#weft.segment<@l [4] at 0 to 4>]}
  weft.state @l.flat.grad : tensor<4xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @l.flat, slot = "grad", segments = [#weft.segment<@l [4] at 0 to 4>]}
  weft.state @presence.l : tensor<f32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<presence>}
  // CHECK: %[[HERE:.*]] = weft.compare gt
  // CHECK-NEXT: %[[THERE:.*]] = dist.all_reduce %[[HERE]] by [or] on @mesh{{.*}}"replica"{{.*}} : tensor<i1>
  // CHECK-NEXT: %[[ALL:.*]]:3 = dist.all_reduce %{{.*}}, %{{.*}}, %[[THERE]] by [sum, or, or] on @mesh{{.*}}"shard"
  // CHECK: weft.return %{{.*}}, %[[ALL]]#2
  weft.program @apply() -> (tensor<f64> {weft.output = "n"}, tensor<i1> {weft.output = "there"}) attributes {kind = #weft.kind<apply>} {
    %g = weft.read @l.flat.grad : tensor<4xf32>
    %n, %bad = weft.norm_and_check %g {p = 2.0 : f64} : tensor<4xf32>
    %p = weft.read @presence.l : tensor<f32>
    %zero = weft.constant dense<0.0> : tensor<f32>
    %there = weft.compare gt %p, %zero : tensor<f32>, tensor<f32>
    weft.return %n, %there : tensor<f64>, tensor<i1>
  }
}
