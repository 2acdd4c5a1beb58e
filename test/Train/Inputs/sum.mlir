// loss = sum(x) of a parameter x; the data is a factor of 1.
weft.param @x : tensor<2xf32> {init = #weft.init<zeros>}
weft.program @model(%one: tensor<1x1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %x = weft.read @x : tensor<2xf32>
  %y = weft.mul %one, %x : tensor<1x1xf32>, tensor<2xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<1x2xf32>
  weft.return %loss : tensor<f32>
}
