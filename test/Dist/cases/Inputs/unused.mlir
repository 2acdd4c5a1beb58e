// loss = sum(x fc^T), 123 -> 253, beside a layer of two parameters that nothing reads.
weft.param @fc.weight : tensor<253x123xf32> {init = #weft.init<zeros>, scope = "fc"}
weft.param @fc.bias : tensor<253xf32> {init = #weft.init<zeros>, scope = "fc"}
weft.param @unused.weight : tensor<3x1xf32> {init = #weft.init<constant, 5.0>, scope = "unused"}
weft.param @unused.bias : tensor<3xf32> {init = #weft.init<constant, 7.0>, scope = "unused"}
weft.program @model(%x: tensor<ROWSx123xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @fc.weight : tensor<253x123xf32>
  %b = weft.read @fc.bias : tensor<253xf32>
  %m = weft.matmul %x, %w {transpose_rhs} : tensor<ROWSx123xf32>, tensor<253x123xf32>
  %y = weft.add %m, %b : tensor<ROWSx253xf32>, tensor<253xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<ROWSx253xf32>
  weft.return %loss : tensor<f32>
}
