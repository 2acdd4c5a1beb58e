// ln(x), whose values that are not finite a select discards, and an overflow:
// x w * 1e30 * 1e30.
weft.param @w : tensor<1x4xf32> {init = #weft.init<ones>}

weft.program @model(%x: tensor<1x1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<1x4xf32>
  %zero = weft.constant dense<0.0> : tensor<f32>
  %k = weft.constant dense<1.0e30> : tensor<f32>
  %two = weft.constant dense<2.0> : tensor<f32>
  %log = weft.log %x {weft.scope = "discarded"} : tensor<1x1xf32>
  %isPositive = weft.compare gt %x, %zero : tensor<1x1xf32>, tensor<f32>
  %kept = weft.select %isPositive, %log, %zero : tensor<1x1xi1>, tensor<1x1xf32>, tensor<f32>
  %shifted = weft.add %kept, %two : tensor<1x1xf32>, tensor<f32>
  %y = weft.matmul %shifted, %w : tensor<1x1xf32>, tensor<1x4xf32>
  %y2 = weft.mul %y, %k : tensor<1x4xf32>, tensor<f32>
  %y3 = weft.mul %y2, %k {weft.scope = "overflow"} : tensor<1x4xf32>, tensor<f32>
  %loss = weft.reduce mean %y3 dims [0, 1] : tensor<1x4xf32>
  weft.return %loss : tensor<f32>
}
