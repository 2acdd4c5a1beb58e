// RUN: weft-opt %s --weft-derive-programs --weft-autodiff --weft-expand-optimizer=optimizer=sgd --weft-bucket=align=1 | FileCheck %s

// Parameters of a layer that may be dropped are updated together, and not with those
// that each step updates.

// CHECK: weft.param @h.0.flat : tensor<8xf32> {{.*}}<@h.0.always [4] at 0 to 4>, #weft.segment<@h.0.last [4] at 4 to 8>
// CHECK: weft.param @h.0.flat.1 : tensor<8xf32> {{.*}}<@h.0.one [4] at 0 to 4>, #weft.segment<@h.0.two [4] at 4 to 8>
weft.param @h.0.always : tensor<4xf32> {init = #weft.init<ones>, scope = "h.0"}
weft.param @h.0.one : tensor<4xf32> {init = #weft.init<ones>, scope = "h.0"}
weft.param @h.0.two : tensor<4xf32> {init = #weft.init<ones>, scope = "h.0"}
weft.param @h.0.last : tensor<4xf32> {init = #weft.init<ones>, scope = "h.0"}
// CHECK: weft.program @apply
// CHECK-COUNT-2: weft.sgd
// CHECK-NOT: weft.sgd
weft.program @model(%x: tensor<4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %always = weft.read @h.0.always : tensor<4xf32>
  %one = weft.read @h.0.one : tensor<4xf32>
  %two = weft.read @h.0.two : tensor<4xf32>
  %last = weft.read @h.0.last : tensor<4xf32>
  %h = weft.mul %x, %always : tensor<4xf32>, tensor<4xf32>
  %m = weft.mul %h, %one : tensor<4xf32>, tensor<4xf32>
  %f = weft.add %m, %two : tensor<4xf32>, tensor<4xf32>
  %y, %dropped = weft.layer_drop %h, %f {p = 0.5 : f64, op_id = 1} : tensor<4xf32>
  %z = weft.mul %y, %last : tensor<4xf32>, tensor<4xf32>
  %loss = weft.reduce sum %z dims [0] : tensor<4xf32>
  weft.return %loss : tensor<f32>
}
