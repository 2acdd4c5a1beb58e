// Modules within modules.
module @scopes {
  weft.param @w1 : tensor<16x64xf32> {init = #weft.init<uniform, -0.1, 0.1>, scope = "h.0.up"}
  weft.param @w2 : tensor<8x16xf32> {init = #weft.init<uniform, -0.1, 0.1>, scope = "h.1"}
  weft.program @model(%image: tensor<32x64xf32> {weft.input = "image"},
                      %label: tensor<32xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %w1 = weft.read @w1 : tensor<16x64xf32>
    %m = weft.matmul %image, %w1 {transpose_rhs, weft.scope = "h.0.up"} : tensor<32x64xf32>, tensor<16x64xf32>
    %h = weft.tanh %m {weft.scope = "h.0.act"} : tensor<32x16xf32>
    %w2 = weft.read @w2 : tensor<8x16xf32>
    %y = weft.matmul %h, %w2 {transpose_rhs, weft.scope = "h.1"} : tensor<32x16xf32>, tensor<8x16xf32>
    %loss = weft.reduce sum %y dims [0, 1] {weft.scope = "head"} : tensor<32x8xf32>
    weft.return %loss : tensor<f32>
  }
}
