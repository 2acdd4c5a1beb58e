// Three outputs of three inputs; loss = sum(x w^T).
weft.param @w : tensor<3x3xf32> {init = #weft.init<zeros>}
weft.program @model(%x: tensor<ROWSx3xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<3x3xf32>
  %y = weft.matmul %x, %w {transpose_rhs} : tensor<ROWSx3xf32>, tensor<3x3xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<ROWSx3xf32>
  weft.return %loss : tensor<f32>
}
