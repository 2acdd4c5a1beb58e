weft.param @table : tensor<32x6xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.param @scale : tensor<2x8x3xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.param @pairs : tensor<16x3xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.program @logits(%tokens: tensor<1x8xi32> {weft.input = "tokens"},
                     %at: tensor<1xi32> {weft.input = "position"})
    -> (tensor<1x6xf32> {weft.output = "logits"})
    attributes {kind = #weft.kind<logits>} {
  %table = weft.read @table : tensor<32x6xf32>
  // Integers.
  %offsets = weft.constant dense<[0, 4, 8, 12, 16, 20, 24, 28]> : tensor<8xi32>
  %ids = weft.add %tokens, %offsets : tensor<1x8xi32>, tensor<8xi32>
  %rows = weft.embedding %table, %ids : tensor<32x6xf32>, tensor<1x8xi32>
  // Two entries for each position.
  %split = weft.reshape %rows : tensor<1x8x6xf32> to tensor<1x16x3xf32>
  %pairs = weft.read @pairs : tensor<16x3xf32>
  %sum = weft.add %split, %pairs : tensor<1x16x3xf32>, tensor<16x3xf32>
  // Positions behind heads.
  %heads = weft.reshape %sum : tensor<1x16x3xf32> to tensor<1x8x2x3xf32>
  %turned = weft.transpose %heads [0, 2, 1, 3] : tensor<1x8x2x3xf32>
  %scale = weft.read @scale : tensor<2x8x3xf32>
  %scaled = weft.mul %turned, %scale : tensor<1x2x8x3xf32>, tensor<2x8x3xf32>
  // Booleans.
  %keep = weft.constant dense<[[true], [false], [true], [true], [false], [true], [false], [true]]> : tensor<8x1xi1>
  %half = weft.constant dense<0.5> : tensor<f32>
  %kept = weft.select %keep, %scaled, %half : tensor<8x1xi1>, tensor<1x2x8x3xf32>, tensor<f32>
  %back = weft.transpose %kept [0, 2, 1, 3] : tensor<1x2x8x3xf32>
  %out, %lse = weft.attention %back, %back, %back {causal, scale = 0.5 : f64}
      : tensor<1x8x2x3xf32>, tensor<1x8x2x3xf32>, tensor<1x8x2x3xf32>
  %flat = weft.reshape %out : tensor<1x8x2x3xf32> to tensor<8x6xf32>
  %last = weft.embedding %flat, %at : tensor<8x6xf32>, tensor<1xi32>
  weft.return %last : tensor<1x6xf32>
}
