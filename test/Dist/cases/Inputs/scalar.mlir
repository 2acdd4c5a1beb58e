// A loss that is a weight.
weft.param @a : tensor<f32> {init = #weft.init<constant, 2.0>}
weft.program @model(%x: tensor<ROWSx1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %a = weft.read @a : tensor<f32>
  weft.return %a : tensor<f32>
}
