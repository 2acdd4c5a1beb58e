// A product of every second pixel: its factor has strides that no product reads.
module @strided {
  weft.param @fc.weight : tensor<10x32xf32> {init = #weft.init<normal, 0.0, 0.2>}
  weft.program @model(%image: tensor<8x64xf32> {weft.input = "image"},
                      %label: tensor<8xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w = weft.read @fc.weight : tensor<10x32xf32>
    %pixels = weft.slice %image offsets [0, 0] sizes [8, 32] strides [1, 2] : tensor<8x64xf32>
    %scores = weft.matmul %pixels, %w {transpose_rhs} : tensor<8x32xf32>, tensor<10x32xf32>
    %loss, %lse, %denom = weft.cross_entropy %scores, %label : tensor<8x10xf32>, tensor<8xi32>
    weft.return %loss : tensor<f32>
  }
}
