// The product itself leaves f16, whatever the loss scale is.
module @overflow {
  weft.param @w : tensor<16x64xf32> {init = #weft.init<uniform, 20000.0, 30000.0>}
  weft.program @model(%image: tensor<32x64xf32> {weft.input = "image"},
                      %label: tensor<32xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<16x64xf32>
    %y = weft.matmul %image, %w {transpose_rhs} : tensor<32x64xf32>, tensor<16x64xf32>
    %z = weft.mul %y, %y : tensor<32x16xf32>, tensor<32x16xf32>
    %loss = weft.reduce sum %z dims [0, 1] : tensor<32x16xf32>
    weft.return %loss : tensor<f32>
  }
}
