// loss = 0.7 x a + 0.1 x b of two weights of 10; the products are f16 under autocast.
weft.param @a : tensor<1x1xf32> {init = #weft.init<constant, 10.0>}
weft.param @b : tensor<1x1xf32> {init = #weft.init<constant, 10.0>}
weft.program @model(%x: tensor<1x1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %a = weft.read @a : tensor<1x1xf32>
  %b = weft.read @b : tensor<1x1xf32>
  %xa = weft.matmul %x, %a : tensor<1x1xf32>, tensor<1x1xf32>
  %xb = weft.matmul %x, %b : tensor<1x1xf32>, tensor<1x1xf32>
  %wide = weft.cast %xa : tensor<1x1xf32> to tensor<1x1xf32>
  %other = weft.cast %xb : tensor<1x1xf32> to tensor<1x1xf32>
  %large = weft.constant dense<0.7> : tensor<f32>
  %small = weft.constant dense<0.1> : tensor<f32>
  %ya = weft.mul %wide, %large : tensor<1x1xf32>, tensor<f32>
  %yb = weft.mul %other, %small : tensor<1x1xf32>, tensor<f32>
  %y = weft.add %ya, %yb : tensor<1x1xf32>, tensor<1x1xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<1x1xf32>
  weft.return %loss : tensor<f32>
}
