// A mask of -inf, made on purpose, beside an overflow: x * 1e30 * 1e30.
weft.param @w : tensor<1x4xf32> {init = #weft.init<ones>}

weft.program @model(%x: tensor<1x1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<1x4xf32>
  %y = weft.matmul %x, %w : tensor<1x1xf32>, tensor<1x4xf32>
  %two = weft.constant dense<2.0> : tensor<f32>
  %ninf = weft.constant dense<0xFF800000> : tensor<f32>
  %keep = weft.constant dense<[[0.0, 3.0, 0.0, 3.0]]> : tensor<1x4xf32>
  %shifted = weft.add %y, %keep : tensor<1x4xf32>, tensor<1x4xf32>
  %p = weft.compare ge %shifted, %two : tensor<1x4xf32>, tensor<f32>
  %m = weft.select %p, %y, %ninf {weft.scope = "mask"} : tensor<1x4xi1>, tensor<1x4xf32>, tensor<f32>
  %s = weft.softmax %m : tensor<1x4xf32>
  %k = weft.constant dense<1.0e30> : tensor<f32>
  %y2 = weft.mul %y, %k : tensor<1x4xf32>, tensor<f32>
  %y3 = weft.mul %y2, %k {weft.scope = "overflow"} : tensor<1x4xf32>, tensor<f32>
  %a = weft.add %y3, %s : tensor<1x4xf32>, tensor<1x4xf32>
  %loss = weft.reduce mean %a dims [0, 1] : tensor<1x4xf32>
  weft.return %loss : tensor<f32>
}
