module @m {
  weft.param @w : tensor<4x4xf32> {init = #weft.init<zeros>}
  weft.param @unused : tensor<4xf32> {init = #weft.init<zeros>}
  weft.program @model(%x: tensor<2x4xf32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<4x4xf32>
    %y = weft.matmul %x, %w : tensor<2x4xf32>, tensor<4x4xf32>
    %e = weft.exp %y : tensor<2x4xf32>
    %l = weft.reduce sum %e dims [0, 1] : tensor<2x4xf32>
    weft.return %l : tensor<f32>
  }
}
