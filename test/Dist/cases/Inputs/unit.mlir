// One unit with two parameters; loss = x (sum(a) + sum(b)).
weft.param @h.0.a : tensor<5xf32> {init = #weft.init<ones>}
weft.param @h.0.b : tensor<3xf32> {init = #weft.init<constant, 2.0>}
weft.program @model(%x: tensor<ROWSx1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %a = weft.read @h.0.a : tensor<5xf32>
  %b = weft.read @h.0.b : tensor<3xf32>
  %ab = weft.concat %a, %b {dim = 0} : tensor<5xf32>, tensor<3xf32>
  %y = weft.mul %x, %ab : tensor<ROWSx1xf32>, tensor<8xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<ROWSx8xf32>
  weft.return %loss : tensor<f32>
}
