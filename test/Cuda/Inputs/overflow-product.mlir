// Two layers: with a loss scale above 2048 the gradient of what lies between them
// leaves f16 in the product that makes it.
module @overflow {
  weft.param @w1 : tensor<16x64xf32> {init = #weft.init<uniform, -0.01, 0.01>}
  weft.param @w2 : tensor<16x16xf32> {init = #weft.init<uniform, 1.0, 2.0>}
  weft.program @model(%image: tensor<32x64xf32> {weft.input = "image"},
                      %label: tensor<32xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w1 = weft.read @w1 : tensor<16x64xf32>
    %h = weft.matmul %image, %w1 {transpose_rhs} : tensor<32x64xf32>, tensor<16x64xf32>
    %w2 = weft.read @w2 : tensor<16x16xf32>
    %y = weft.matmul %h, %w2 {transpose_rhs} : tensor<32x16xf32>, tensor<16x16xf32>
    %loss = weft.reduce sum %y dims [0, 1] : tensor<32x16xf32>
    weft.return %loss : tensor<f32>
  }
}
