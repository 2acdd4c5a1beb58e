// Causal attention of 64 queries: the first value gets the gradients of all of
// them, so that its sum leaves f16 where no other number does.
module @overflow {
  weft.param @v : tensor<1x64x2x32xf32> {init = #weft.init<uniform, 0.5, 1.0>}
  weft.param @q : tensor<1x64x2x32xf32> {init = #weft.init<uniform, -0.01, 0.01>}
  weft.program @model(%image: tensor<32x64xf32> {weft.input = "image"},
                      %label: tensor<32xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %q = weft.read @q : tensor<1x64x2x32xf32>
    %v = weft.read @v : tensor<1x64x2x32xf32>
    %out, %lse = weft.attention %q, %q, %v {causal, scale = 0.125 : f64}
        : tensor<1x64x2x32xf32>, tensor<1x64x2x32xf32>, tensor<1x64x2x32xf32>
    %loss = weft.reduce sum %out dims [0, 1, 2, 3] : tensor<1x64x2x32xf32>
    weft.return %loss : tensor<f32>
  }
}
