// Scores of 8 x 8 images for ten classes, all equal at first.
module @metrics {
  weft.param @w : tensor<64x10xf32> {init = #weft.init<zeros>}
  weft.param @b : tensor<10xf32> {init = #weft.init<zeros>}
  weft.program @model(%image: tensor<8x64xf32> {weft.input = "image"}, %label: tensor<8xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}, tensor<f32> {weft.output = "accuracy", weft.metric},
          tensor<f32> {weft.output = "size", weft.metric}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @w : tensor<64x10xf32>
    %b = weft.read @b : tensor<10xf32>
    %scores = weft.matmul %image, %w bias %b : tensor<10xf32> : tensor<8x64xf32>, tensor<64x10xf32>
    %loss, %lse, %denom = weft.cross_entropy %scores, %label : tensor<8x10xf32>, tensor<8xi32>
    %accuracy = weft.accuracy %scores, %label : tensor<8x10xf32>, tensor<8xi32>
    %abs = weft.abs %scores : tensor<8x10xf32>
    %size = weft.reduce mean %abs dims [0, 1] : tensor<8x10xf32>
    weft.return %loss, %accuracy, %size : tensor<f32>, tensor<f32>, tensor<f32>
  }
}
