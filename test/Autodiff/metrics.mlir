// RUN: weft-opt %s --split-input-file --weft-derive-programs | FileCheck %s
// RUN: weft-opt %s --split-input-file --weft-derive-programs --weft-autodiff --canonicalize --cse -o %t.mlir
// RUN: FileCheck %s --check-prefix=GRAD < %t.mlir

// A metric is an output of micro and eval behind the loss. Its mean is over the
// targets of the whole step, as the mean of the loss is. It has no gradient.

// CHECK-LABEL: module @accuracy attributes {{.*}}weft.row_mean
// CHECK: weft.state @denominator.0
// CHECK: weft.state @denominator.1
// CHECK: weft.state @denominator.none
// CHECK-LABEL: weft.program @denominators(
// CHECK: weft.return writes @denominator.0 = %{{.*}} : tensor<f64>, @denominator.1 = %{{.*}} : tensor<f64>, @denominator.none
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: -> (tensor<f32> {weft.output = "loss"}, tensor<f32> {weft.metric, weft.output = "accuracy"})
// CHECK: %[[LOSS:.*]], %{{.*}}, %{{.*}} = weft.cross_entropy {{.*}}reduction = #weft.loss_reduction<sum>
// CHECK: %[[MEAN:.*]] = weft.div %[[LOSS]]
// CHECK: %[[D:.*]] = weft.read @denominator.1 : tensor<f64>
// CHECK: %[[SHARE:.*]] = weft.cast %[[D]]
// CHECK: %[[CORRECT:.*]] = weft.accuracy {{.*}}reduction = #weft.loss_reduction<sum>
// CHECK: %[[ACCURACY:.*]] = weft.div %[[CORRECT]], %[[SHARE]]
// CHECK: %[[NONE:.*]] = weft.compare eq
// CHECK: %[[NAN:.*]] = weft.constant dense<0x7FC00000>
// CHECK: %[[DEFINED:.*]] = weft.select %[[NONE]], %[[NAN]], %[[ACCURACY]]
// CHECK: weft.return %[[MEAN]], %[[DEFINED]] : tensor<f32>, tensor<f32>
// CHECK-LABEL: weft.program @eval(
// CHECK-SAME: -> (tensor<f32> {weft.output = "loss"}, tensor<f32> {weft.metric, weft.output = "accuracy"})

// The backward pass has the ops of the loss alone.
// GRAD-LABEL: module @accuracy
// GRAD-LABEL: weft.program @micro(
// GRAD: weft.accuracy
// GRAD: weft.cross_entropy_grad
// GRAD: %[[DW:.*]] = weft.matmul %{{.*}} {transpose_lhs}
// GRAD: %[[SUM:.*]] = weft.accumulate %{{.*}}, %[[DW]]
// GRAD-NEXT: weft.return %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32> writes @w.grad = %[[SUM]] : tensor<3x2xf32>
module @accuracy {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "accuracy", weft.metric}, tensor<f32> {weft.output = "loss"})
      attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    %loss, %lse, %denom = weft.cross_entropy %y, %t : tensor<4x2xf32>, tensor<4xi32>
    %accuracy = weft.accuracy %y, %t : tensor<4x2xf32>, tensor<4xi32>
    weft.return %accuracy, %loss : tensor<f32>, tensor<f32>
  }
}

// -----

// Behind the terms of a weighted sum. A metric of rows that always count needs no
// denominator, and a loss that always has some makes no step empty.

// CHECK-LABEL: module @terms attributes {{.*}}weft.row_mean
// CHECK: weft.state @denominator.0
// CHECK-NOT: weft.state @denominator.1
// CHECK-NOT: weft.state @denominator.none
// CHECK-LABEL: weft.program @micro(
// CHECK-SAME: -> (tensor<f32> {weft.output = "loss"}, tensor<f32> {weft.output = "a"}, tensor<f32> {weft.output = "b"}, tensor<f32> {weft.metric, weft.output = "size"}, tensor<f32> {weft.metric, weft.output = "hits"})
// CHECK: weft.return %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
module @terms {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "a", weft.loss = 0.5 : f64}, tensor<f32> {weft.output = "size", weft.metric},
          tensor<f32> {weft.output = "b", weft.loss = 1.0 : f64}, tensor<f32> {weft.output = "hits", weft.metric})
      attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    %zero = weft.constant dense<0.0> : tensor<4x2xf32>
    %a = weft.mse %y, %zero : tensor<4x2xf32>
    %b = weft.reduce mean %y dims [0, 1] : tensor<4x2xf32>
    %abs = weft.abs %y : tensor<4x2xf32>
    %size = weft.reduce mean %abs dims [0, 1] : tensor<4x2xf32>
    %hits = weft.accuracy %y, %t {ignore_index = 1} : tensor<4x2xf32>, tensor<4xi32>
    weft.return %a, %size, %b, %hits : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }
}

// -----

// Where the loss depends on the split already, a metric may, too.

// CHECK-LABEL: module @split
// CHECK-NOT: weft.row_mean
// CHECK: weft.program @micro(
// CHECK-SAME: weft.metric
module @split {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"})
      -> (tensor<f32> {weft.output = "loss"}, tensor<f32> {weft.output = "most", weft.metric}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    %loss = weft.reduce sum %y dims [0, 1] : tensor<4x2xf32>
    %most = weft.reduce max %y dims [0, 1] : tensor<4x2xf32>
    weft.return %loss, %most : tensor<f32>, tensor<f32>
  }
}
