// The operand of tanh is one buffer, with the part of x before the part of y.
weft.param @w : tensor<4x4xf32> {init = #weft.init<ones>}
weft.program @model(%x: tensor<2x4xf32> {weft.input = "x"}, %y: tensor<2x4xf32> {weft.input = "y"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4x4xf32>
  %a = weft.matmul %x, %w : tensor<2x4xf32>, tensor<4x4xf32>
  %b = weft.matmul %y, %w : tensor<2x4xf32>, tensor<4x4xf32>
  %c = weft.concat %a, %b {dim = 0} : tensor<2x4xf32>, tensor<2x4xf32>
  %t = weft.tanh %c : tensor<4x4xf32>
  %loss = weft.reduce mean %t dims [0, 1] : tensor<4x4xf32>
  weft.return %loss : tensor<f32>
}
