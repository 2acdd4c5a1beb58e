weft.param @w : tensor<4x4xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.param @g : tensor<4xf32> {init = #weft.init<ones>}
weft.param @b : tensor<4xf32> {init = #weft.init<zeros>}
weft.program @model(%x: tensor<2x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4x4xf32>
  %g = weft.read @g : tensor<4xf32>
  %b = weft.read @b : tensor<4xf32>
  %y = weft.matmul %x, %w : tensor<2x4xf32>, tensor<4x4xf32>
  %n, %mean, %rstd = weft.layer_norm %y, %g, %b {eps = 1.0e-5 : f64} : tensor<2x4xf32>, tensor<4xf32>
  %d = weft.dropout %n {p = 0.1 : f64, op_id = 0} : tensor<2x4xf32>
  %e = weft.exp %d : tensor<2x4xf32>
  %l = weft.reduce mean %e dims [0, 1] : tensor<2x4xf32>
  weft.return %l : tensor<f32>
}
