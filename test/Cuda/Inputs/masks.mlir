// The gradient of each parameter is its dropout mask: 0 or 1 / (1 - p).
module @masks {
  weft.param @wide : tensor<8x64xf32> {init = #weft.init<uniform, 1.0, 2.0>}
  weft.param @odd : tensor<7x33xf32> {init = #weft.init<uniform, 1.0, 2.0>}
  weft.param @half : tensor<5x17x3xf32> {init = #weft.init<uniform, 1.0, 2.0>}
  weft.program @model(%image: tensor<8x64xf32> {weft.input = "image"},
                      %label: tensor<8xi32> {weft.input = "label"})
      -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
    %wide = weft.read @wide : tensor<8x64xf32>
    %dwide = weft.dropout %wide {p = 0.1 : f64, op_id = 1} : tensor<8x64xf32>
    %a = weft.reduce sum %dwide dims [0, 1] : tensor<8x64xf32>
    %odd = weft.read @odd : tensor<7x33xf32>
    %dodd = weft.dropout %odd {p = 0.25 : f64, op_id = 2} : tensor<7x33xf32>
    %b = weft.reduce sum %dodd dims [0, 1] : tensor<7x33xf32>
    %half = weft.read @half : tensor<5x17x3xf32>
    %dhalf = weft.dropout %half {p = 0.5 : f64, op_id = 3} : tensor<5x17x3xf32>
    %c = weft.reduce sum %dhalf dims [0, 1, 2] : tensor<5x17x3xf32>
    %ab = weft.add %a, %b : tensor<f32>, tensor<f32>
    %loss = weft.add %ab, %c : tensor<f32>, tensor<f32>
    weft.return %loss : tensor<f32>
  }
}
