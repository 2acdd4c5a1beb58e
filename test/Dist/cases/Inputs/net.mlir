// A classifier 6 -> 5 -> 3, of ROWS rows.
module @net {
  weft.param @fc1.weight : tensor<5x6xf32> {init = #weft.init<uniform, -0.4, 0.4>}
  weft.param @fc1.bias : tensor<5xf32> {init = #weft.init<uniform, -0.4, 0.4>}
  weft.param @fc2.weight : tensor<3x5xf32> {init = #weft.init<uniform, -0.4, 0.4>}
  weft.param @fc2.bias : tensor<3xf32> {init = #weft.init<uniform, -0.4, 0.4>}
  weft.program @model(%x: tensor<ROWSx6xf32> {weft.input = "x"}, %label: tensor<ROWSxi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w1 = weft.read @fc1.weight : tensor<5x6xf32>
    %b1 = weft.read @fc1.bias : tensor<5xf32>
    %w2 = weft.read @fc2.weight : tensor<3x5xf32>
    %b2 = weft.read @fc2.bias : tensor<3xf32>
    %m1 = weft.matmul %x, %w1 {transpose_rhs} : tensor<ROWSx6xf32>, tensor<5x6xf32>
    %a1 = weft.add %m1, %b1 : tensor<ROWSx5xf32>, tensor<5xf32>
    %h1 = weft.relu %a1 : tensor<ROWSx5xf32>
    %m2 = weft.matmul %h1, %w2 {transpose_rhs} : tensor<ROWSx5xf32>, tensor<3x5xf32>
    %a2 = weft.add %m2, %b2 : tensor<ROWSx3xf32>, tensor<3xf32>
    %loss, %lse, %denom = weft.cross_entropy %a2, %label : tensor<ROWSx3xf32>, tensor<ROWSxi32>
    weft.return %loss : tensor<f32>
  }
}
