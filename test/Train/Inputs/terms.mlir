// loss = 0.5 a x + 0.25 b x; each weight is 10.
weft.param @a : tensor<1xf32> {init = #weft.init<constant, 10.0>}
weft.param @b : tensor<1xf32> {init = #weft.init<constant, 10.0>}
weft.program @model(%x: tensor<1x1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "first", weft.loss = 0.5 : f64},
        tensor<f32> {weft.output = "second", weft.loss = 0.25 : f64}) attributes {kind = #weft.kind<model>} {
  %a = weft.read @a : tensor<1xf32>
  %b = weft.read @b : tensor<1xf32>
  %ax = weft.mul %x, %a : tensor<1x1xf32>, tensor<1xf32>
  %bx = weft.mul %x, %b : tensor<1x1xf32>, tensor<1xf32>
  %first = weft.reduce sum %ax dims [0, 1] : tensor<1x1xf32>
  %second = weft.reduce sum %bx dims [0, 1] : tensor<1x1xf32>
  weft.return %first, %second : tensor<f32>, tensor<f32>
}
