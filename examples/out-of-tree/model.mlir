// A regression with one hidden layer: 4 -> 8 -> 1, ReLU between.
module @regression {
  weft.param @fc1.weight : tensor<8x4xf32> {init = #weft.init<uniform, -0.5, 0.5>}
  weft.param @fc1.bias : tensor<8xf32> {init = #weft.init<zeros>}
  weft.param @fc2.weight : tensor<1x8xf32> {init = #weft.init<uniform, -0.35, 0.35>}

  weft.program @model(%x: tensor<16x4xf32> {weft.input = "x"},
                      %y: tensor<16x1xf32> {weft.input = "y"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w1 = weft.read @fc1.weight : tensor<8x4xf32>
    %b1 = weft.read @fc1.bias : tensor<8xf32>
    %w2 = weft.read @fc2.weight : tensor<1x8xf32>
    %m1 = weft.matmul %x, %w1 {transpose_rhs} : tensor<16x4xf32>, tensor<8x4xf32>
    %a1 = weft.add %m1, %b1 : tensor<16x8xf32>, tensor<8xf32>
    %h1 = weft.relu %a1 : tensor<16x8xf32>
    %m2 = weft.matmul %h1, %w2 {transpose_rhs} : tensor<16x8xf32>, tensor<1x8xf32>
    %loss = weft.mse %m2, %y : tensor<16x1xf32>
    weft.return %loss : tensor<f32>
  }
}
