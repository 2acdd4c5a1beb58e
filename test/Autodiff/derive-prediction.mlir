// The log-likelihood of each row of a language model, next to the model.

// RUN: split-file %s %t
// RUN: weft-opt %t/language.mlir --weft-derive-prediction | FileCheck %t/language.mlir
// RUN: weft-opt %t/language.mlir --weft-derive-prediction --weft-derive-programs | FileCheck %t/language.mlir --check-prefix=PROGRAMS
// RUN: weft-opt %t/language.mlir --weft-derive-prediction=wanted=false | FileCheck %t/language.mlir --check-prefix=NONE
// RUN: weft-opt %t/own.mlir --weft-derive-prediction | FileCheck %t/own.mlir
// RUN: weft-opt %t/own.mlir --weft-derive-prediction=wanted=false | FileCheck %t/own.mlir --check-prefix=NONE

// The loss is the negative sum of the rows, divided by the sum of their tokens.
// RUN: weft-opt %t/language.mlir --weft-derive-prediction --weft-derive-programs -o %t/two.mlir
// RUN: weft-interp %t/two.mlir --program=eval --inputs=random:3 --state=init:2 > %t/numbers
// RUN: weft-interp %t/two.mlir --program=predict --inputs=random:3 --state=init:2 >> %t/numbers
// RUN: %python %S/Inputs/sum-of-rows.py < %t/numbers
// RUN: weft-opt %t/two.mlir --weft-decompose -o %t/primitive.mlir
// RUN: weft-interp %t/two.mlir --program=predict --set targets=3 --set tokens=0 > %t/numbers
// RUN: weft-interp %t/primitive.mlir --program=predict --set targets=3 --set tokens=0 | diff - %t/numbers
// With all targets ignored:
// RUN: weft-interp %t/two.mlir --program=predict --set targets=-100 | FileCheck %t/language.mlir --check-prefix=IGNORED

//--- language.mlir
// CHECK: weft.program @predict(%[[TOKENS:.*]]: tensor<2x4xi32> {weft.input = "tokens"}, %[[TARGETS:.*]]: tensor<2x4xi32> {weft.input = "targets"})
// CHECK-SAME: -> (tensor<2xf32> {weft.output = "log_likelihood"}, tensor<2xi32> {weft.output = "tokens"})
// CHECK-SAME: kind = #weft.kind<predict>
// CHECK: %{{.*}}, %[[LSE:.*]], %{{.*}} = weft.cross_entropy %[[LOGITS:.*]], %[[FLAT:.*]] {weft.scope = "loss"}
// CHECK: %[[T:.*]] = weft.reshape %[[FLAT]] {weft.scope = "loss"} : tensor<8xi32> to tensor<8x1xi32>
// CHECK: %[[CLASS:.*]] = weft.iota [1]
// CHECK: %[[IS:.*]] = weft.compare eq %[[CLASS]], %[[T]]
// CHECK: %[[HIT:.*]] = weft.select %[[IS]], %[[LOGITS]], %{{.*}}
// CHECK: %[[LOGIT:.*]] = weft.reduce max %[[HIT]] dims [1]
// CHECK: %[[COLUMN:.*]] = weft.reshape %[[LSE]]
// CHECK: weft.sub %[[LOGIT]], %[[COLUMN]]
// CHECK: weft.compare ne %[[T]], %{{.*}}
// CHECK: weft.reshape %{{.*}} : tensor<8x1xf32> to tensor<2x4xf32>
// CHECK: weft.reduce sum %{{.*}} dims [1]
// CHECK: weft.cast %{{.*}} : tensor<2xf32> to tensor<2xi32>
// CHECK: weft.return %{{.*}}, %{{.*}} : tensor<2xf32>, tensor<2xi32>{{$}}
// CHECK: kind = #weft.kind<model>

// Dropout is gone.
// PROGRAMS-LABEL: weft.program @predict
// PROGRAMS-NOT: weft.dropout
// PROGRAMS-LABEL: weft.program @init

// NONE-NOT: kind = #weft.kind<predict>

// IGNORED: log_likelihood = [0, 0]
// IGNORED: tokens = [0, 0]
module attributes {weft.vocab = 16 : i64, weft.seq = 4 : i64, weft.batch = 2 : i64} {
  weft.param @table : tensor<16x8xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%tokens: tensor<2x4xi32> {weft.input = "tokens"},
                      %targets: tensor<2x4xi32> {weft.input = "targets"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %table = weft.read @table : tensor<16x8xf32>
    %x = weft.embedding %table, %tokens : tensor<16x8xf32>, tensor<2x4xi32>
    %y = weft.dropout %x {op_id = 1 : i64, p = 0.1 : f64} : tensor<2x4x8xf32>
    %z = weft.matmul %y, %table {transpose_rhs} : tensor<2x4x8xf32>, tensor<16x8xf32>
    %logits = weft.reshape %z : tensor<2x4x16xf32> to tensor<8x16xf32>
    %flat = weft.reshape %targets : tensor<2x4xi32> to tensor<8xi32>
    %loss, %lse, %denom = weft.cross_entropy %logits, %flat {weft.scope = "loss"}
        : tensor<8x16xf32>, tensor<8xi32>
    weft.return %loss : tensor<f32>
  }
}

//--- own.mlir
// A program of the model's text needs no targets.
// CHECK: weft.program @scores(%{{.*}}: tensor<4x3xf32> {weft.input = "x"})
// CHECK-SAME: kind = #weft.kind<predict>
// NONE-NOT: @scores
weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "t"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<3x2xf32>
  %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
  %loss, %lse, %denom = weft.cross_entropy %y, %t : tensor<4x2xf32>, tensor<4xi32>
  weft.return %loss : tensor<f32>
}
weft.program @scores(%x: tensor<4x3xf32> {weft.input = "x"})
    -> (tensor<4x2xf32> {weft.output = "scores"}) attributes {kind = #weft.kind<predict>} {
  %w = weft.read @w : tensor<3x2xf32>
  %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
  weft.return %y : tensor<4x2xf32>
}
