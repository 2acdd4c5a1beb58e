// The gradient of w is log(x): infinite for a row of 0.
weft.param @w : tensor<1xf32> {init = #weft.init<ones>}
weft.program @model(%x: tensor<1x1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<1xf32>
  %l = weft.log %x {weft.scope = "block.log"} : tensor<1x1xf32>
  %y = weft.mul %l, %w : tensor<1x1xf32>, tensor<1xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<1x1xf32>
  weft.return %loss : tensor<f32>
}
