// RUN: weft-opt --weft-fuse=apart=true %s | FileCheck %s

// Every op is a kernel of its own and keeps its scope: each value of the program
// can be looked at. Constants and broadcasts are still read through.

// CHECK-LABEL: weft.program @model
// CHECK: %[[E:.*]] = weft.call @k_{{.*}}(%{{.*}}) {weft.scope = "a"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[S:.*]] = weft.call @k_{{.*}}(%[[E]]) {weft.scope = "b"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[R:.*]] = weft.call @k_{{.*}}(%[[S]]) : (tensor<8x4xf32>) -> tensor<f32>
// CHECK-NEXT: weft.return %[[R]]

// CHECK-COUNT-3: weft.kernel @k_
weft.program @model(%x: tensor<8x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %e = weft.exp %x {weft.scope = "a"} : tensor<8x4xf32>
  %two = weft.constant dense<2.0> : tensor<f32>
  %s = weft.mul %e, %two {weft.scope = "b"} : tensor<8x4xf32>, tensor<f32>
  %r = weft.reduce sum %s dims [0, 1] : tensor<8x4xf32>
  weft.return %r : tensor<f32>
}
