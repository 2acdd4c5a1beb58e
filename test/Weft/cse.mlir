// RUN: weft-opt %s --cse | FileCheck %s
// Equal ops merge. Dropout with equal keys gives equal values;
// another op_id keeps them apart.

weft.param @w : tensor<4xf32>

// CHECK-LABEL: weft.program @merge
weft.program @merge(%x: tensor<4xf32> {weft.input = "x"}, %rng: tensor<2xi64> {weft.input = "rng"})
    -> (tensor<4xf32> {weft.output = "a"}, tensor<4xf32> {weft.output = "b"},
        tensor<4xf32> {weft.output = "c"}, tensor<4xf32> {weft.output = "d"})
    attributes {kind = #weft.kind<model>} {
  // CHECK: %[[W:.*]] = weft.read @w
  // CHECK-NOT: weft.read
  %w0 = weft.read @w : tensor<4xf32>
  %w1 = weft.read @w : tensor<4xf32>
  // CHECK: %[[A:.*]] = weft.add %{{.*}}, %[[W]]
  // CHECK-NOT: weft.add
  %a = weft.add %x, %w0 : tensor<4xf32>, tensor<4xf32>
  %b = weft.add %x, %w1 : tensor<4xf32>, tensor<4xf32>
  // CHECK: %[[D:.*]] = weft.dropout %{{.*}} {op_id = 1 : i64
  // CHECK: %[[E:.*]] = weft.dropout %{{.*}} {op_id = 2 : i64
  // CHECK-NOT: weft.dropout
  %c = weft.dropout %x rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 1 : i64} : tensor<4xf32>
  %d = weft.dropout %x rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 2 : i64} : tensor<4xf32>
  %e = weft.dropout %x rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 1 : i64} : tensor<4xf32>
  // CHECK: weft.add %[[D]], %[[D]]
  %f = weft.add %c, %e : tensor<4xf32>, tensor<4xf32>
  // CHECK: weft.return %[[A]], %[[A]], %{{.*}}, %[[E]]
  weft.return %a, %b, %f, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Ops of different scopes stay apart: the scope is an attribute.
// CHECK-LABEL: weft.program @scopes
weft.program @scopes(%x: tensor<4xf32> {weft.input = "x"})
    -> (tensor<4xf32> {weft.output = "a"}, tensor<4xf32> {weft.output = "b"})
    attributes {kind = #weft.kind<model>} {
  // CHECK: weft.exp
  // CHECK: weft.exp
  %a = weft.exp %x {weft.scope = "h.0"} : tensor<4xf32>
  %b = weft.exp %x {weft.scope = "h.1"} : tensor<4xf32>
  weft.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// An op without uses goes.
// CHECK-LABEL: weft.program @unused
weft.program @unused(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  // CHECK-NOT: weft.exp
  %a = weft.exp %x : tensor<4xf32>
  weft.return
}
