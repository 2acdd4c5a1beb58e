// RUN: weft-opt --weft-decompose --weft-fuse=apart=true %s | FileCheck %s

// Every op is a kernel of its own and keeps its scope: each value of the program
// can be looked at. Constants and broadcasts are still read through.

// CHECK-LABEL: weft.program @model
// CHECK: %[[E:.*]] = weft.call @k_{{.*}}(%{{.*}}) {weft.scope = "a"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[S:.*]] = weft.call @k_{{.*}}(%[[E]]) {weft.scope = "b"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[R:.*]] = weft.call @k_{{.*}}(%[[S]]) : (tensor<8x4xf32>) -> tensor<f32>
// CHECK-NEXT: weft.return %[[R]]

weft.program @model(%x: tensor<8x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %e = weft.exp %x {weft.scope = "a"} : tensor<8x4xf32>
  %two = weft.constant dense<2.0> : tensor<f32>
  %s = weft.mul %e, %two {weft.scope = "b"} : tensor<8x4xf32>, tensor<f32>
  %r = weft.reduce sum %s dims [0, 1] : tensor<8x4xf32>
  weft.return %r : tensor<f32>
}

// The ops of one update are one kernel, which reads and writes states alone; two
// updates are apart, and so are the two numbers that they share.

// CHECK-LABEL: weft.program @apply(
// CHECK: %[[ONE:.*]]:2 = weft.call @k_{{[^(]*}}({{.*}}) : {{.*}} -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[TWO:.*]]:2 = weft.call @k_{{[^(]*}}({{.*}}) : {{.*}} -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: weft.return %[[ONE]]#0, %[[ONE]]#1, %[[TWO]]#0, %[[TWO]]#1
// CHECK-COUNT-6: weft.kernel @k_
// CHECK-NOT: weft.kernel
weft.program @apply(%p: tensor<4xf32> {weft.input = "p"}, %b: tensor<4xf32> {weft.input = "b"}, %g: tensor<4xf32> {weft.input = "g"},
    %c: tensor<f32> {weft.input = "c"}, %s: tensor<i1> {weft.input = "s"}, %t: tensor<i64> {weft.input = "t"}, %n: tensor<f64> {weft.input = "n"})
    -> (tensor<4xf32> {weft.output = "np"}, tensor<4xf32> {weft.output = "nb"}, tensor<4xf32> {weft.output = "np2"}, tensor<4xf32> {weft.output = "nb2"}) attributes {kind = #weft.kind<apply>} {
  %np, %nb = weft.sgd(%p, %b, %g, %c, %s, %t, %n, %n, %n)
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  %np2, %nb2 = weft.sgd(%np, %nb, %g, %c, %s, %t, %n, %n, %n)
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  weft.return %np, %nb, %np2, %nb2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
