// RUN: weft-opt %s --split-input-file --weft-derive-programs -verify-diagnostics | FileCheck %s

// Whether a loss is a mean over rows, each of them on its own: then it does not
// depend on how rows are split into batches.

// CHECK-LABEL: module @blocks attributes {{.*}}weft.row_mean
module @blocks attributes {weft.batch = 2 : i64} {
  weft.param @w : tensor<4x4xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.param @p : tensor<3x4xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.param @g : tensor<4xf32> {init = #weft.init<ones>}
  weft.program @model(%x: tensor<2x3x4xf32> {weft.input = "x"}, %t: tensor<2x3x4xf32> {weft.input = "t"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<4x4xf32>
    %p = weft.read @p : tensor<3x4xf32>
    %g = weft.read @g : tensor<4xf32>
    %e = weft.add %x, %p : tensor<2x3x4xf32>, tensor<3x4xf32>
    %n, %r = weft.rms_norm %e, %g {eps = 1.0e-6 : f64} : tensor<2x3x4xf32>, tensor<4xf32>
    %flat = weft.reshape %n : tensor<2x3x4xf32> to tensor<6x4xf32>
    %q = weft.matmul %flat, %w {transpose_rhs} : tensor<6x4xf32>, tensor<4x4xf32>
    %h = weft.reshape %q : tensor<6x4xf32> to tensor<2x3x2x2xf32>
    %u = weft.transpose %h [0, 2, 1, 3] : tensor<2x3x2x2xf32>
    %s = weft.matmul %u, %u {transpose_rhs} : tensor<2x2x3x2xf32>, tensor<2x2x3x2xf32>
    %a = weft.softmax %s : tensor<2x2x3x3xf32>
    %v = weft.matmul %a, %u : tensor<2x2x3x3xf32>, tensor<2x2x3x2xf32>
    %b = weft.transpose %v [0, 2, 1, 3] : tensor<2x2x3x2xf32>
    %y = weft.reshape %b : tensor<2x3x2x2xf32> to tensor<2x3x4xf32>
    %d = weft.sub %y, %t : tensor<2x3x4xf32>, tensor<2x3x4xf32>
    %sq = weft.mul %d, %d : tensor<2x3x4xf32>, tensor<2x3x4xf32>
    %c = weft.reduce mean %sq dims [0, 1, 2] : tensor<2x3x4xf32>
    %half = weft.constant dense<5.0e-1> : tensor<f32>
    %loss = weft.mul %c, %half : tensor<f32>, tensor<f32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// CHECK-LABEL: module @sum
// CHECK-NOT: weft.row_mean
module @sum {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    // expected-remark @+1 {{the loss is not known to be a mean over rows behind this op: it may depend on how rows are split}}
    %s = weft.reduce sum %y dims [0, 1] : tensor<4x2xf32>
    %c = weft.constant dense<2.0> : tensor<f32>
    %loss = weft.div %s, %c : tensor<f32>, tensor<f32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// A product of means is none.

module @product {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4x2xf32> {weft.input = "t"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    %m = weft.mse %y, %t : tensor<4x2xf32>
    // expected-remark @+1 {{not known to be a mean over rows}}
    %loss = weft.mul %m, %m : tensor<f32>, tensor<f32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// Rows that meet: a mean over the batch is subtracted from each of them.

module @batch_norm {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4x2xf32> {weft.input = "t"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    %m = weft.reduce mean %y dims [0] : tensor<4x2xf32>
    // expected-remark @+1 {{not known to be a mean over rows}}
    %c = weft.sub %y, %m : tensor<4x2xf32>, tensor<2xf32>
    %loss = weft.mse %c, %t : tensor<4x2xf32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// Rows that meet in a product, and a parameter with an entry for each row.

module @gram {
  weft.param @w : tensor<4x1xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"})
      -> (tensor<f32> {weft.output = "one", weft.loss = 1.0 : f64}, tensor<f32> {weft.output = "two", weft.loss = 1.0 : f64})
      attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<4x1xf32>
    // expected-remark @+1 {{not known to be a mean over rows}}
    %y = weft.matmul %x, %x {transpose_rhs} : tensor<4x3xf32>, tensor<4x3xf32>
    %one = weft.reduce mean %y dims [0, 1] : tensor<4x4xf32>
    %z = weft.mul %x, %w : tensor<4x3xf32>, tensor<4x1xf32>
    %two = weft.reduce mean %z dims [0, 1] : tensor<4x3xf32>
    weft.return %one, %two : tensor<f32>, tensor<f32>
  }
}

// -----

module @per_row {
  weft.param @w : tensor<4x1xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<4x1xf32>
    // expected-remark @+1 {{not known to be a mean over rows}}
    %z = weft.mul %x, %w : tensor<4x3xf32>, tensor<4x1xf32>
    %loss = weft.reduce mean %z dims [0, 1] : tensor<4x3xf32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// As many terms as a model has.

// CHECK-LABEL: module @terms attributes {{.*}}weft.row_mean
module @terms {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"})
      -> (tensor<f32> {weft.output = "l0", weft.loss = 1.0 : f64}, tensor<f32> {weft.output = "l1", weft.loss = 1.0 : f64}, tensor<f32> {weft.output = "l2", weft.loss = 1.0 : f64}, tensor<f32> {weft.output = "l3", weft.loss = 1.0 : f64}, tensor<f32> {weft.output = "l4", weft.loss = 1.0 : f64}, tensor<f32> {weft.output = "l5", weft.loss = 1.0 : f64}, tensor<f32> {weft.output = "l6", weft.loss = 1.0 : f64}, tensor<f32> {weft.output = "l7", weft.loss = 1.0 : f64}, tensor<f32> {weft.output = "l8", weft.loss = 1.0 : f64})
      attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    %l0 = weft.reduce mean %y dims [0, 1] : tensor<4x2xf32>
    %l1 = weft.reduce mean %y dims [0, 1] : tensor<4x2xf32>
    %l2 = weft.reduce mean %y dims [0, 1] : tensor<4x2xf32>
    %l3 = weft.reduce mean %y dims [0, 1] : tensor<4x2xf32>
    %l4 = weft.reduce mean %y dims [0, 1] : tensor<4x2xf32>
    %l5 = weft.reduce mean %y dims [0, 1] : tensor<4x2xf32>
    %l6 = weft.reduce mean %y dims [0, 1] : tensor<4x2xf32>
    %l7 = weft.reduce mean %y dims [0, 1] : tensor<4x2xf32>
    %l8 = weft.reduce mean %y dims [0, 1] : tensor<4x2xf32>
    weft.return %l0, %l1, %l2, %l3, %l4, %l5, %l6, %l7, %l8 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }
}

// -----

// Rows in the bias of a product lie along its columns.

module @bias attributes {weft.batch = 4 : i64} {
  weft.param @w : tensor<3x4xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4x4xf32> {weft.input = "t"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x4xf32>
    %b = weft.reduce mean %x dims [1] : tensor<4x3xf32>
    // expected-remark @+1 {{the loss is not known to be a mean over rows behind this op}}
    %y = weft.matmul %x, %w bias %b : tensor<4xf32> : tensor<4x3xf32>, tensor<3x4xf32>
    %loss = weft.mse %y, %t : tensor<4x4xf32>
    weft.return %loss : tensor<f32>
  }
}

// -----

// A mean that is rounded to an integer is none.

module @integer attributes {weft.batch = 2 : i64} {
  weft.param @w : tensor<4x8xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%x: tensor<2x4xf32> {weft.input = "x"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<4x8xf32>
    %y = weft.matmul %x, %w : tensor<2x4xf32>, tensor<4x8xf32>
    %mean = weft.reduce mean %y dims [0, 1] : tensor<2x8xf32>
    // expected-remark @+1 {{the loss is not known to be a mean over rows behind this op}}
    %whole = weft.cast %mean : tensor<f32> to tensor<i32>
    %back = weft.cast %whole : tensor<i32> to tensor<f32>
    %loss = weft.add %mean, %back : tensor<f32>, tensor<f32>
    weft.return %loss : tensor<f32>
  }
}
