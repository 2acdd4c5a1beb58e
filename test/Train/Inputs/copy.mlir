// A weight that f16 cannot hold after the first update, with a gradient of x.
weft.param @w : tensor<1x4xf32> {init = #weft.init<ones>}

weft.program @model(%x: tensor<1x1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<1x4xf32>
  %y = weft.matmul %x, %w {weft.scope = "head"} : tensor<1x1xf32>, tensor<1x4xf32>
  %loss = weft.reduce mean %y dims [0, 1] : tensor<1x4xf32>
  weft.return %loss : tensor<f32>
}
