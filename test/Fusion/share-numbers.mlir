// RUN: weft-opt %s --pass-pipeline="builtin.module(weft.program(weft-share-numbers))" -o %t.mlir && FileCheck %s --input-file=%t.mlir
// RUN: weft-interp --compare %s %t.mlir --tolerance=0
// Equal numbers are computed once; tensors and other numbers stay.

// CHECK: %[[ZERO:.*]] = weft.constant dense<0.000000e+00>
// CHECK: %[[C:.*]] = weft.compare eq %arg0, %[[ZERO]]
// CHECK-NEXT: %[[X:.*]] = weft.select %[[C]], %arg1, %arg2
// CHECK-NOT: weft.compare eq
// CHECK: %[[Y:.*]] = weft.select %[[C]], %arg2, %arg1
// CHECK: %[[D:.*]] = weft.compare ne
// CHECK: weft.select %[[D]]
// CHECK-COUNT-2: weft.exp
// CHECK: weft.return
weft.program @eval(%n: tensor<f32> {weft.input = "n"}, %a: tensor<4xf32> {weft.input = "a"}, %b: tensor<4xf32> {weft.input = "b"})
    -> (tensor<4xf32> {weft.output = "x"}, tensor<4xf32> {weft.output = "y"}, tensor<4xf32> {weft.output = "z"},
        tensor<4xf32> {weft.output = "e"}) attributes {kind = #weft.kind<eval>} {
  %zero = weft.constant dense<0.0> : tensor<f32>
  %c = weft.compare eq %n, %zero : tensor<f32>, tensor<f32>
  %x = weft.select %c, %a, %b : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  %other = weft.constant dense<0.0> : tensor<f32>
  %d = weft.compare eq %n, %other : tensor<f32>, tensor<f32>
  %y = weft.select %d, %b, %a : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  %f = weft.compare ne %n, %other : tensor<f32>, tensor<f32>
  %z = weft.select %f, %b, %a : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  %e = weft.exp %a : tensor<4xf32>
  %g = weft.exp %a : tensor<4xf32>
  %s = weft.add %e, %g : tensor<4xf32>, tensor<4xf32>
  weft.return %x, %y, %z, %s : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
