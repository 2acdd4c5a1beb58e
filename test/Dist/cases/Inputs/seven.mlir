// Seven weights; loss = x sum(w).
weft.param @w : tensor<7xf32> {init = #weft.init<zeros>}
weft.program @model(%x: tensor<ROWSx1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<7xf32>
  %y = weft.mul %x, %w : tensor<ROWSx1xf32>, tensor<7xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<ROWSx7xf32>
  weft.return %loss : tensor<f32>
}
