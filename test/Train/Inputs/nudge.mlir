// One weight of 1 that a product uses; its gradient is the input: 1 in the tests.
weft.param @w : tensor<1x1xf32> {init = #weft.init<ones>}
weft.program @model(%x: tensor<1x1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<1x1xf32>
  %y = weft.matmul %x, %w : tensor<1x1xf32>, tensor<1x1xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<1x1xf32>
  weft.return %loss : tensor<f32>
}
