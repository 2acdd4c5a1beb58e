// Eight weights; loss = x . w, so that x is the gradient.
weft.param @w : tensor<8xf32> {init = #weft.init<zeros>}
weft.program @model(%x: tensor<ROWSx8xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<8xf32>
  %y = weft.mul %x, %w : tensor<ROWSx8xf32>, tensor<8xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<ROWSx8xf32>
  weft.return %loss : tensor<f32>
}
