// A gain per channel, repeated over pixels under another shape.
module @gain {
  weft.param @gain : tensor<4xf32> {init = #weft.init<ones>}
  weft.param @fc.weight : tensor<10x64xf32> {init = #weft.init<normal, 0.0, 0.2>}
  weft.program @model(%image: tensor<8x64xf32> {weft.input = "image"},
                      %label: tensor<8xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %g = weft.read @gain : tensor<4xf32>
    %w = weft.read @fc.weight : tensor<10x64xf32>
    %all = weft.broadcast %g : tensor<4xf32> to tensor<16x4xf32>
    %row = weft.reshape %all : tensor<16x4xf32> to tensor<64xf32>
    %x = weft.mul %image, %row : tensor<8x64xf32>, tensor<64xf32>
    %scores = weft.matmul %x, %w {transpose_rhs} : tensor<8x64xf32>, tensor<10x64xf32>
    %loss, %lse, %denom = weft.cross_entropy %scores, %label : tensor<8x10xf32>, tensor<8xi32>
    weft.return %loss : tensor<f32>
  }
}
