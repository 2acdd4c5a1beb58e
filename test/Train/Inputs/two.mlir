// Two weights of 10 with gradients that are the input, for two optimizers.
weft.param @a : tensor<1xf32> {init = #weft.init<constant, 10.0>}
weft.param @b : tensor<1xf32> {init = #weft.init<constant, 10.0>}
weft.program @model(%x: tensor<1x1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %a = weft.read @a : tensor<1xf32>
  %b = weft.read @b : tensor<1xf32>
  %ab = weft.add %a, %b : tensor<1xf32>, tensor<1xf32>
  %y = weft.mul %x, %ab : tensor<1x1xf32>, tensor<1xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<1x1xf32>
  weft.return %loss : tensor<f32>
}
