// loss = mean |w x + b - 4|, the difference negative.
weft.param @w : tensor<1x1xf32> {init = #weft.init<constant, 1.0>}
weft.param @b : tensor<1xf32> {init = #weft.init<constant, 2.0>}
weft.program @model(%x: tensor<ROWSx1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<1x1xf32>
  %b = weft.read @b : tensor<1xf32>
  %four = weft.constant dense<4.0> : tensor<f32>
  %zero = weft.constant dense<0.0> : tensor<f32>
  %m = weft.matmul %x, %w {transpose_rhs} : tensor<ROWSx1xf32>, tensor<1x1xf32>
  %y = weft.add %m, %b : tensor<ROWSx1xf32>, tensor<1xf32>
  %over = weft.sub %y, %four : tensor<ROWSx1xf32>, tensor<f32>
  %under = weft.sub %four, %y : tensor<f32>, tensor<ROWSx1xf32>
  %low = weft.compare lt %over, %zero : tensor<ROWSx1xf32>, tensor<f32>
  %off = weft.select %low, %under, %over : tensor<ROWSx1xi1>, tensor<ROWSx1xf32>, tensor<ROWSx1xf32>
  %loss = weft.reduce mean %off dims [0, 1] : tensor<ROWSx1xf32>
  weft.return %loss : tensor<f32>
}
