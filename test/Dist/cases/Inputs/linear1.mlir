// One output of one input; loss = sum(x (w x + b)): the gradient of w x + b is x.
weft.param @w : tensor<1x1xf32> {init = #weft.init<constant, 1.0>}
weft.param @b : tensor<1xf32> {init = #weft.init<constant, 2.0>}
weft.program @model(%x: tensor<ROWSx1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<1x1xf32>
  %b = weft.read @b : tensor<1xf32>
  %m = weft.matmul %x, %w {transpose_rhs} : tensor<ROWSx1xf32>, tensor<1x1xf32>
  %y = weft.add %m, %b : tensor<ROWSx1xf32>, tensor<1xf32>
  %z = weft.mul %x, %y : tensor<ROWSx1xf32>, tensor<ROWSx1xf32>
  %loss = weft.reduce sum %z dims [0, 1] : tensor<ROWSx1xf32>
  weft.return %loss : tensor<f32>
}
