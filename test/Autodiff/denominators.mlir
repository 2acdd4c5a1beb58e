// RUN: weft-opt %s --split-input-file --weft-derive-programs 2>/dev/null | FileCheck %s

// The loss of a step is a mean over the targets of all its micro-batches that
// count. Their number is known ahead: a program of its own adds it up.

// CHECK-LABEL: module @labels attributes {{.*}}weft.row_mean
// CHECK: weft.state @denominator.0 : tensor<f64> {kind = #weft.state_kind<denominator>}
// CHECK: weft.state @denominator.none : tensor<f32> {kind = #weft.state_kind<denominator>}
// CHECK-LABEL: weft.program @denominators(
// CHECK-SAME: %[[T:.*]]: tensor<4xi32> {weft.input = "label"}, %[[FLAG:.*]]: tensor<f32> {weft.input = "accumulate"}, %[[SHARE:.*]]: tensor<f64> {weft.input = "batch_share"})
// CHECK-SAME: kind = #weft.kind<denominators>
// CHECK: %[[IGNORED:.*]] = weft.constant dense<-100> : tensor<i32>
// CHECK: %[[COUNTS:.*]] = weft.compare ne %[[T]], %[[IGNORED]]
// CHECK: %[[ONES:.*]] = weft.select %[[COUNTS]]
// CHECK: %[[SUM:.*]] = weft.reduce sum %[[ONES]] dims [0]
// CHECK: %[[WIDE:.*]] = weft.cast %[[SUM]] : tensor<f32> to tensor<f64>
// CHECK: %[[PART:.*]] = weft.mul %[[WIDE]], %[[SHARE]]
// CHECK: %[[OLD:.*]] = weft.read @denominator.0
// CHECK: %[[TOTAL:.*]] = weft.accumulate %[[OLD]], %[[PART]], %[[FLAG]] : tensor<f64>
// CHECK: %[[NONE:.*]] = weft.compare eq %[[TOTAL]]
// CHECK: %[[STATE:.*]] = weft.select %[[NONE]]
// CHECK: weft.return writes @denominator.0 = %[[TOTAL]] : tensor<f64>, @denominator.none = %[[STATE]] : tensor<f32>
// CHECK-LABEL: weft.program @micro(
// CHECK: %[[LOSS:.*]], %{{.*}}, %{{.*}} = weft.cross_entropy {{.*}}reduction = #weft.loss_reduction<sum>
// CHECK: %[[MEAN:.*]] = weft.div %[[LOSS]], %[[D:.*]] : tensor<f32>, tensor<f32>
// CHECK: weft.return %[[MEAN]]
// CHECK-LABEL: weft.program @eval(
// CHECK: weft.read @denominator.0
// CHECK: weft.cross_entropy {{.*}}reduction = #weft.loss_reduction<sum>
// CHECK: weft.div
module @labels {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    %loss, %lse, %denom = weft.cross_entropy %y, %t : tensor<4x2xf32>, tensor<4xi32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// Class weights are added up; an ignored class has none. Weights may be a frozen
// parameter.

// CHECK-LABEL: module @weights
// CHECK-LABEL: weft.program @denominators(
// CHECK: %[[W:.*]] = weft.read @classes : tensor<2xf32>
// CHECK: %[[CLASSES:.*]] = weft.iota [1] : tensor<8x2xi32>
// CHECK: %[[HITS:.*]] = weft.compare eq %[[CLASSES]]
// CHECK: %[[HIT:.*]] = weft.select %[[HITS]], %[[W]]
// CHECK: weft.reduce sum %[[HIT]] dims [1]
module @weights {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.param @classes : tensor<2xf32> {init = #weft.init<ones>, trainable = false}
  weft.program @model(%x: tensor<4x2x3xf32> {weft.input = "x"}, %t: tensor<4x2xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    %c = weft.read @classes : tensor<2xf32>
    %y = weft.matmul %x, %w : tensor<4x2x3xf32>, tensor<3x2xf32>
    %loss, %lse, %denom = weft.cross_entropy %y, %t weight %c : tensor<2xf32> {ignore_index = 1} : tensor<4x2x2xf32>, tensor<4x2xi32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// A weighted loss without a target in the whole step adds nothing, and is divided
// by 1, so that its gradients are zeros; its own output is NaN. A loss that has rows
// always is defined, so that no step is without targets. Other uses of the op's own
// denominator still read the denominator of the micro-batch.

// CHECK-LABEL: module @terms
// CHECK-NOT: @denominator.none
// CHECK-LABEL: weft.program @denominators(
// CHECK-NOT: %{{.*}}: tensor<4x1xf32>
// CHECK: weft.return writes @denominator.0 = %{{.*}} : tensor<f64>
// CHECK-LABEL: weft.program @micro(
// CHECK: %[[COUNT:.*]] = weft.read @denominator.0 : tensor<f64>
// CHECK: %[[EMPTY:.*]] = weft.compare eq %[[COUNT]]
// CHECK: %[[SHARE:.*]] = weft.select %[[EMPTY]], %{{.*}}, %[[COUNT]]
// CHECK: %[[OWN:.*]] = weft.reduce sum
// CHECK: %[[MEAN:.*]] = weft.div
// CHECK: weft.mul %[[OWN]]
// CHECK: %[[TERM:.*]] = weft.add %[[MEAN]]
// CHECK: %[[SCALED:.*]] = weft.mul %[[TERM]]
// CHECK: %[[D:.*]] = weft.read @denominator.0 : tensor<f64>
// CHECK: %[[NONE:.*]] = weft.compare eq %[[D]]
// CHECK: %[[PART:.*]] = weft.select %[[NONE]], %{{.*}}, %[[SCALED]]
// CHECK: %[[NAN:.*]] = weft.constant dense<0x7FC00000>
// CHECK: %[[OUT:.*]] = weft.select %[[NONE]], %[[NAN]], %[[TERM]]
// CHECK: %[[SUM:.*]] = weft.add %[[PART]]
// CHECK: weft.return %[[SUM]], %[[OUT]], %{{.*}} : tensor<f32>, tensor<f32>, tensor<f32>
module @terms {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "label"}, %v: tensor<4x2xf32> {weft.input = "value"})
      -> (tensor<f32> {weft.output = "class", weft.loss = 0.5 : f64}, tensor<f32> {weft.output = "fit", weft.loss = 1.0 : f64})
      attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    %loss, %lse, %denom = weft.cross_entropy %y, %t : tensor<4x2xf32>, tensor<4xi32>
    %zero = weft.constant dense<0.0> : tensor<f32>
    %none = weft.mul %denom, %zero : tensor<f32>, tensor<f32>
    %class = weft.add %loss, %none : tensor<f32>, tensor<f32>
    %fit = weft.mse %y, %v : tensor<4x2xf32>
    weft.return %class, %fit : tensor<f32>, tensor<f32>
  }
}

// -----

// Next tokens all count, a sum is divided by nothing, and a mean of rows is the
// same for every split: no program, and the loss as it was.

// CHECK-LABEL: module @tokens
// CHECK-NOT: denominator
// CHECK: weft.cross_entropy %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<4xi32>
module @tokens attributes {weft.vocab = 3 : i64, weft.seq = 2 : i64, weft.batch = 2 : i64} {
  weft.param @w : tensor<3x3xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%x: tensor<2x2xi32> {weft.input = "tokens"}, %t: tensor<2x2xi32> {weft.input = "targets"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x3xf32>
    %e = weft.embedding %w, %x : tensor<3x3xf32>, tensor<2x2xi32>
    %y = weft.reshape %e : tensor<2x2x3xf32> to tensor<4x3xf32>
    %flat = weft.reshape %t : tensor<2x2xi32> to tensor<4xi32>
    %loss, %lse, %denom = weft.cross_entropy %y, %flat : tensor<4x3xf32>, tensor<4xi32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// States that the model writes do not change in a step without a target.

// CHECK-LABEL: module @writes
// CHECK-LABEL: weft.program @micro(
// CHECK: %[[MEAN:.*]] = weft.reduce mean
// CHECK: %[[FLAG:.*]] = weft.read @denominator.none : tensor<f32>
// CHECK: %[[NONE:.*]] = weft.compare ne %[[FLAG]]
// CHECK: %[[OLD:.*]] = weft.read @mean : tensor<2xf32>
// CHECK: %[[NEW:.*]] = weft.select %[[NONE]], %[[OLD]], %[[MEAN]]
// CHECK: weft.return %{{.*}} : tensor<f32> writes @mean = %[[NEW]] : tensor<2xf32>
module @writes {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.param @mean : tensor<2xf32> {init = #weft.init<zeros>, trainable = false}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    %m = weft.reduce mean %y dims [0] : tensor<4x2xf32>
    %loss, %lse, %denom = weft.cross_entropy %y, %t : tensor<4x2xf32>, tensor<4xi32>
    weft.return %loss : tensor<f32> writes @mean = %m : tensor<2xf32>
  }
}

// -----

// A loss that is only watched, and one that nothing reads, are not counted.

// CHECK-LABEL: module @watched
// CHECK: weft.state @denominator.0
// CHECK-NOT: weft.state @denominator.1
// CHECK-LABEL: weft.program @denominators(
// CHECK-SAME: {{^}}%{{[^ ]*}}: tensor<4xi32> {weft.input = "label"}, %{{.*}}: tensor<f32> {weft.input = "accumulate"}, %{{.*}}: tensor<f64> {weft.input = "batch_share"})
// CHECK-LABEL: weft.program @micro(
// CHECK: weft.cross_entropy %{{.*}}, %[[T:.*]] {reduction = #weft.loss_reduction<sum>}
module @watched {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.param @classes : tensor<2xf32> {init = #weft.init<ones>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %other: tensor<4xi32> {weft.input = "other"}, %t: tensor<4xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "watched"}, tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    %c = weft.read @classes : tensor<2xf32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    %watched, %lse0, %denom0 = weft.cross_entropy %y, %other weight %c : tensor<2xf32> : tensor<4x2xf32>, tensor<4xi32>
    %loss, %lse1, %denom1 = weft.cross_entropy %y, %t : tensor<4x2xf32>, tensor<4xi32>
    weft.return %watched, %loss : tensor<f32>, tensor<f32>
  }
}
