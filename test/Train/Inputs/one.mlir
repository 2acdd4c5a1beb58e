// One weight of 10 whose gradient is the input: 1 in the tests.
weft.param @w : tensor<1xf32> {init = #weft.init<constant, 10.0>}
weft.program @model(%x: tensor<1x1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<1xf32>
  %y = weft.mul %x, %w : tensor<1x1xf32>, tensor<1xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<1x1xf32>
  weft.return %loss : tensor<f32>
}
