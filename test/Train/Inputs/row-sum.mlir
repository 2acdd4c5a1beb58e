module @rows {
  weft.param @w : tensor<1x1xf32> {init = #weft.init<ones>}
  weft.program @model(%x: tensor<4x1xf32> {weft.input = "x"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<1x1xf32>
    %y = weft.matmul %x, %w : tensor<4x1xf32>, tensor<1x1xf32>
    // Rows 1 to 7: their mean is 4.
    %loss = weft.reduce mean %y dims [0, 1] : tensor<4x1xf32>
    weft.return %loss : tensor<f32>
  }
}
