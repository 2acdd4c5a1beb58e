// w e^x of two rows, of which a mask discards one.
weft.param @w : tensor<4xf32> {init = #weft.init<ones>}

weft.program @model(%x: tensor<2x4xf32> {weft.input = "x"}, %keep: tensor<2x4xf32> {weft.input = "keep"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4xf32>
  %zero = weft.constant dense<0.0> : tensor<f32>
  %e = weft.exp %x {weft.scope = "overflow"} : tensor<2x4xf32>
  %p = weft.compare gt %keep, %zero : tensor<2x4xf32>, tensor<f32>
  %kept = weft.select %p, %e, %zero : tensor<2x4xi1>, tensor<2x4xf32>, tensor<f32>
  %y = weft.mul %kept, %w : tensor<2x4xf32>, tensor<4xf32>
  %loss = weft.reduce mean %y dims [0, 1] : tensor<2x4xf32>
  weft.return %loss : tensor<f32>
}
