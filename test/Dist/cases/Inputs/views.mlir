// Two terms of one loss: an element of the means, and their sum.
weft.param @w : tensor<4xf32> {init = #weft.init<ones>}
weft.program @model(%x: tensor<ROWSx4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "one", weft.loss = 1.0 : f64},
        tensor<f32> {weft.output = "all", weft.loss = 0.5 : f64}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<4xf32>
  %y = weft.mul %x, %w : tensor<ROWSx4xf32>, tensor<4xf32>
  %means = weft.reduce mean %y dims [0] : tensor<ROWSx4xf32>
  %part = weft.slice %means offsets [1] sizes [1] strides [1] : tensor<4xf32>
  %one = weft.reshape %part : tensor<1xf32> to tensor<f32>
  %all = weft.reduce sum %means dims [0] : tensor<4xf32>
  weft.return %one, %all : tensor<f32>, tensor<f32>
}
