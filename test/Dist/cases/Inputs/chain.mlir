// Four units of 16 weights each; loss = sum(x w0 w1 w2 w3).
weft.param @h.0.w : tensor<4x4xf32> {init = #weft.init<ones>}
weft.param @h.1.w : tensor<4x4xf32> {init = #weft.init<ones>}
weft.param @h.2.w : tensor<4x4xf32> {init = #weft.init<ones>}
weft.param @h.3.w : tensor<4x4xf32> {init = #weft.init<ones>}
weft.program @model(%x: tensor<ROWSx4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w0 = weft.read @h.0.w : tensor<4x4xf32>
  %w1 = weft.read @h.1.w : tensor<4x4xf32>
  %w2 = weft.read @h.2.w : tensor<4x4xf32>
  %w3 = weft.read @h.3.w : tensor<4x4xf32>
  %y0 = weft.matmul %x, %w0 : tensor<ROWSx4xf32>, tensor<4x4xf32>
  %y1 = weft.matmul %y0, %w1 : tensor<ROWSx4xf32>, tensor<4x4xf32>
  %y2 = weft.matmul %y1, %w2 : tensor<ROWSx4xf32>, tensor<4x4xf32>
  %y3 = weft.matmul %y2, %w3 : tensor<ROWSx4xf32>, tensor<4x4xf32>
  %loss = weft.reduce sum %y3 dims [0, 1] : tensor<ROWSx4xf32>
  weft.return %loss : tensor<f32>
}
