// The scores of ten classes are ten of the pixels, moved by a bias.
module @plain {
  weft.param @bias : tensor<10xf32> {init = #weft.init<zeros>}

  weft.program @model(%image: tensor<32x64xf32> {weft.input = "image"},
                      %label: tensor<32xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %pixels = weft.slice %image offsets [0, 20] sizes [32, 10] strides [1, 1] : tensor<32x64xf32>
    %bias = weft.read @bias : tensor<10xf32>
    %each = weft.broadcast %bias : tensor<10xf32> to tensor<32x10xf32>
    %scores = weft.add %pixels, %each : tensor<32x10xf32>, tensor<32x10xf32>
    %loss, %lse, %denom = weft.cross_entropy %scores, %label : tensor<32x10xf32>, tensor<32xi32>
    weft.return %loss : tensor<f32>
  }
}
