// RUN: weft-opt %s --weft-derive-programs | FileCheck %s

// A model may ask for the bits itself. Programs without dropout store none;
// a reader of the bits gets all ones: everything is kept.

weft.param @q : tensor<2x16x2x4xf32> {init = #weft.init<ones>}
// CHECK-LABEL: weft.program @micro(
// CHECK: weft.attention {{.*}} rng %{{.*}} : tensor<2xi64> {dropout = 1.000000e-01 : f64, op_id = 3 : i64, scale = 5.000000e-01 : f64, stores_bits}
// CHECK-LABEL: weft.program @eval
// CHECK: %{{.*}}, %{{.*}} = weft.attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 5.000000e-01 : f64}
// CHECK: %[[ALL:.*]] = weft.constant dense<-1> : tensor<2x2x4x1x32xi32>
// CHECK: weft.cast %[[ALL]]
weft.program @model(%x: tensor<2x16x2x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %q = weft.read @q : tensor<2x16x2x4xf32>
  %y, %lse, %bits = weft.attention %q, %x, %x {dropout = 0.1 : f64, op_id = 3, scale = 0.5 : f64, stores_bits}
      : tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>
  %c = weft.cast %bits : tensor<2x2x4x1x32xi32> to tensor<2x2x4x1x32xf32>
  %s = weft.reduce sum %c dims [0, 1, 2, 3, 4] : tensor<2x2x4x1x32xf32>
  %t = weft.reduce sum %y dims [0, 1, 2, 3] : tensor<2x16x2x4xf32>
  %l = weft.add %s, %t : tensor<f32>, tensor<f32>
  weft.return %l : tensor<f32>
}
