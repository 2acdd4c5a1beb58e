// A loss with a learned factor, exp(-s), beside one that has targets always.
module @learned {
  weft.param @w : tensor<3x2xf32> {init = #weft.init<normal, 0.0, 1.0>}
  weft.param @s : tensor<f32> {init = #weft.init<zeros>}
  weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}, %t: tensor<4xi32> {weft.input = "label"}, %v: tensor<4x2xf32> {weft.input = "value"})
      -> (tensor<f32> {weft.output = "class", weft.loss = 1.0 : f64}, tensor<f32> {weft.output = "fit", weft.loss = 1.0 : f64}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<3x2xf32>
    %s = weft.read @s : tensor<f32>
    %y = weft.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
    %ce, %lse, %denom = weft.cross_entropy %y, %t : tensor<4x2xf32>, tensor<4xi32>
    %n = weft.neg %s : tensor<f32>
    %e = weft.exp %n : tensor<f32>
    %p = weft.mul %ce, %e : tensor<f32>, tensor<f32>
    %class = weft.add %p, %s : tensor<f32>, tensor<f32>
    %fit = weft.mse %y, %v : tensor<4x2xf32>
    weft.return %class, %fit : tensor<f32>, tensor<f32>
  }
}
