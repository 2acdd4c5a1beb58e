// RUN: weft-opt %s --split-input-file --weft-partition="accumulates=true" | FileCheck %s
// RUN: weft-opt %s --split-input-file --weft-partition="accumulates=false" | FileCheck %s --check-prefix=ONE

// Two ranks divide by the targets that both count: the last count of a step joins
// the totals of all losses in one message and divides them by the number of ranks.
// Those before it are a program without collectives.

// CHECK-LABEL: module @labels
// ONE-LABEL: module @labels
module @labels {
  dist.mesh @mesh("dp" = 2)
  weft.state @denominator.0 : tensor<f64> {kind = #weft.state_kind<denominator>, dist.layout = #dist.layout<replicated>}
  weft.state @denominator.1 : tensor<f64> {kind = #weft.state_kind<denominator>, dist.layout = #dist.layout<replicated>}
  weft.state @denominator.none : tensor<f32> {kind = #weft.state_kind<denominator>, dist.layout = #dist.layout<replicated>}
  // CHECK-LABEL: weft.program @denominators(
  // CHECK: %[[A:.*]] = weft.accumulate
  // CHECK: %[[B:.*]] = weft.accumulate
  // CHECK-NEXT: %[[ALL:.*]]:2 = dist.all_reduce %[[A]], %[[B]] by [sum, sum] on @mesh : tensor<f64>, tensor<f64>
  // CHECK-NEXT: %[[W:.*]] = weft.constant dense<2.000000e+00> : tensor<f64>
  // CHECK-NEXT: %[[MEAN:.*]] = weft.div %[[ALL]]#0, %[[W]]
  // CHECK: %[[OTHER:.*]] = weft.div %[[ALL]]#1
  // CHECK: %[[EMPTY:.*]] = weft.compare eq %[[MEAN]]
  // CHECK: weft.return writes @denominator.0 = %[[MEAN]] : tensor<f64>, @denominator.1 = %[[OTHER]]
  // CHECK-LABEL: weft.program @denominators_keep(
  // CHECK-NOT: dist.all_reduce
  // CHECK: weft.return writes @denominator.0
  // ONE: dist.all_reduce
  // ONE-NOT: denominators_keep
  weft.program @denominators(%a: tensor<f64> {weft.input = "a"}, %flag: tensor<f32> {weft.input = "accumulate"})
      attributes {kind = #weft.kind<denominators>} {
    %0 = weft.read @denominator.0 : tensor<f64>
    %1 = weft.read @denominator.1 : tensor<f64>
    %sum = weft.accumulate %0, %a, %flag : tensor<f64>
    %other = weft.accumulate %1, %a, %flag : tensor<f64>
    %zero = weft.constant dense<0.0> : tensor<f64>
    %empty = weft.compare eq %sum, %zero : tensor<f64>, tensor<f64>
    %yes = weft.constant dense<1.0> : tensor<f32>
    %no = weft.constant dense<0.0> : tensor<f32>
    %none = weft.select %empty, %yes, %no : tensor<i1>, tensor<f32>, tensor<f32>
    weft.return writes @denominator.0 = %sum : tensor<f64>, @denominator.1 = %other : tensor<f64>, @denominator.none = %none : tensor<f32>
  }
}

// -----

// Without such a program nothing is added up for losses.

// CHECK-LABEL: module @tokens
// CHECK-NOT: all_reduce
// ONE-LABEL: module @tokens
module @tokens attributes {weft.vocab = 3 : i64, weft.seq = 4 : i64} {
  dist.mesh @mesh("dp" = 2)
  weft.program @micro(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<1x4xi32> {weft.input = "targets"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
    %flat = weft.reshape %t : tensor<1x4xi32> to tensor<4xi32>
    %loss, %lse, %denom = weft.cross_entropy %x, %flat : tensor<4x3xf32>, tensor<4xi32>
    weft.return %loss : tensor<f32>
  }
}
