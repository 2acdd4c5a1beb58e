// Three outputs of one input; loss = sum(x w).
weft.param @w : tensor<1x3xf32> {init = #weft.init<zeros>}
weft.program @model(%x: tensor<ROWSx1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<1x3xf32>
  %y = weft.matmul %x, %w : tensor<ROWSx1xf32>, tensor<1x3xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<ROWSx3xf32>
  weft.return %loss : tensor<f32>
}
