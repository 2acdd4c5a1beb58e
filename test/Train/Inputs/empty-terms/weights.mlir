// Class weights of which none counts a target, beside a loss that has targets
// always.
module @weights {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "label"}, %v: tensor<4x2xf32> {weft.input = "value"})
      -> (tensor<f32> {weft.output = "class", weft.loss = 1.0 : f64}, tensor<f32> {weft.output = "fit", weft.loss = 1.0 : f64}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    %c = weft.constant dense<[0.0, 1.0]> : tensor<2xf32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    %class, %lse, %denom = weft.cross_entropy %y, %t weight %c : tensor<2xf32> : tensor<4x2xf32>, tensor<4xi32>
    %fit = weft.mse %y, %v : tensor<4x2xf32>
    weft.return %class, %fit : tensor<f32>, tensor<f32>
  }
}
