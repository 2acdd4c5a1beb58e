// examples/mlp.mlir with gelu, and biases that belong to the products as those
// of imported models do.
module @gelu {
  weft.param @fc1.weight : tensor<128x64xf32> {init = #weft.init<uniform, -0.125, 0.125>}
  weft.param @fc1.bias : tensor<128xf32> {init = #weft.init<zeros>}
  weft.param @fc2.weight : tensor<128x128xf32> {init = #weft.init<uniform, -0.0883883, 0.0883883>}
  weft.param @fc2.bias : tensor<128xf32> {init = #weft.init<zeros>}
  weft.param @fc3.weight : tensor<10x128xf32> {init = #weft.init<uniform, -0.0883883, 0.0883883>}

  weft.program @model(%image: tensor<32x64xf32> {weft.input = "image"},
                      %label: tensor<32xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w1 = weft.read @fc1.weight : tensor<128x64xf32>
    %b1 = weft.read @fc1.bias : tensor<128xf32>
    %a1 = weft.matmul %image, %w1 bias %b1 : tensor<128xf32> {transpose_rhs} : tensor<32x64xf32>, tensor<128x64xf32>
    %h1 = weft.gelu %a1 {approximate = #weft.gelu_kind<tanh>} : tensor<32x128xf32>
    %w2 = weft.read @fc2.weight : tensor<128x128xf32>
    %b2 = weft.read @fc2.bias : tensor<128xf32>
    %a2 = weft.matmul %h1, %w2 bias %b2 : tensor<128xf32> {transpose_rhs} : tensor<32x128xf32>, tensor<128x128xf32>
    %h2 = weft.gelu %a2 {approximate = #weft.gelu_kind<tanh>} : tensor<32x128xf32>
    %w3 = weft.read @fc3.weight : tensor<10x128xf32>
    %scores = weft.matmul %h2, %w3 {transpose_rhs} : tensor<32x128xf32>, tensor<10x128xf32>
    %loss, %lse, %denom = weft.cross_entropy %scores, %label : tensor<32x10xf32>, tensor<32xi32>
    weft.return %loss : tensor<f32>
  }
}
