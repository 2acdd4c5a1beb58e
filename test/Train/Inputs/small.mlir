// loss = 2^-26 * (f16(w) * f16(x)) + 1, where the gradient of the f16 product is
// below the smallest f16.
weft.param @w : tensor<1xf32> {init = #weft.init<ones>}
weft.program @model(%x: tensor<1x1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<1xf32>
  %low = weft.cast %w : tensor<1xf32> to tensor<1xf16>
  %xlow = weft.cast %x : tensor<1x1xf32> to tensor<1x1xf16>
  %product = weft.mul %xlow, %low : tensor<1x1xf16>, tensor<1xf16>
  %wide = weft.cast %product : tensor<1x1xf16> to tensor<1x1xf32>
  %factor = weft.constant dense<1.490116119384765625e-08> : tensor<f32>
  %rest = weft.constant dense<1.0> : tensor<f32>
  %y = weft.mul %wide, %factor : tensor<1x1xf32>, tensor<f32>
  %z = weft.add %y, %rest : tensor<1x1xf32>, tensor<f32>
  %loss = weft.reduce sum %z dims [0, 1] : tensor<1x1xf32>
  weft.return %loss : tensor<f32>
}
