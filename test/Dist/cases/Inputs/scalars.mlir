// Terms of a loss that are weights, as they are and under another shape.
weft.param @h.0.a : tensor<f32> {init = #weft.init<constant, 2.0>}
weft.param @h.0.b : tensor<f32> {init = #weft.init<constant, 3.0>}
weft.param @h.0.c : tensor<1x1xf32> {init = #weft.init<constant, 4.0>}
weft.program @model(%x: tensor<ROWSx1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "l0", weft.loss = 1.0 : f64},
        tensor<f32> {weft.output = "l1", weft.loss = 0.5 : f64},
        tensor<f32> {weft.output = "l2", weft.loss = 0.25 : f64}) attributes {kind = #weft.kind<model>} {
  %a = weft.read @h.0.a : tensor<f32>
  %b = weft.read @h.0.b : tensor<f32>
  %c = weft.read @h.0.c : tensor<1x1xf32>
  %m = weft.reduce mean %x dims [0, 1] : tensor<ROWSx1xf32>
  %n = weft.mul %m, %a : tensor<f32>, tensor<f32>
  %d = weft.reshape %c : tensor<1x1xf32> to tensor<f32>
  weft.return %n, %b, %d : tensor<f32>, tensor<f32>, tensor<f32>
}
