// A classifier of 8 x 8 images, 64 -> 16 -> 10, whose states are its own.
module @net {
  weft.param @fc1.weight : tensor<16x64xf32> {init = #weft.init<uniform, -0.125, 0.125>}
  weft.param @fc1.bias : tensor<16xf32> {init = #weft.init<uniform, -0.125, 0.125>, source = "layers.0.bias"}
  weft.param @fc2.weight : tensor<10x16xf32> {init = #weft.init<normal, 0.0, 0.2>}
  weft.program @model(%image: tensor<8x64xf32> {weft.input = "image"},
                      %label: tensor<8xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w1 = weft.read @fc1.weight : tensor<16x64xf32>
    %b1 = weft.read @fc1.bias : tensor<16xf32>
    %m1 = weft.matmul %image, %w1 {transpose_rhs} : tensor<8x64xf32>, tensor<16x64xf32>
    %a1 = weft.add %m1, %b1 : tensor<8x16xf32>, tensor<16xf32>
    %h1 = weft.relu %a1 : tensor<8x16xf32>
    %w2 = weft.read @fc2.weight : tensor<10x16xf32>
    %scores = weft.matmul %h1, %w2 {transpose_rhs} : tensor<8x16xf32>, tensor<10x16xf32>
    %loss, %lse, %denom = weft.cross_entropy %scores, %label {reduction = #weft.loss_reduction<sum>} : tensor<8x10xf32>, tensor<8xi32>
    weft.return %loss : tensor<f32>
  }
}
