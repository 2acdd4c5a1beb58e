// exp(1000 x) in a branch that may be dropped, beside an overflow: x w * 1e30 * 1e30.
weft.param @w : tensor<1x4xf32> {init = #weft.init<ones>}
weft.param @v : tensor<4xf32> {init = #weft.init<ones>}
weft.program @model(%x: tensor<1x1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<1x4xf32>
  %v = weft.read @v : tensor<4xf32>
  %k = weft.constant dense<1.0e30> : tensor<f32>
  %thousand = weft.constant dense<1000.0> : tensor<f32>
  %y = weft.matmul %x, %w : tensor<1x1xf32>, tensor<1x4xf32>
  %a = weft.mul %y, %v : tensor<1x4xf32>, tensor<4xf32>
  %b = weft.mul %a, %thousand : tensor<1x4xf32>, tensor<f32>
  %c = weft.exp %b {weft.scope = "branch"} : tensor<1x4xf32>
  %d, %dropped = weft.layer_drop %y, %c {p = 0.5 : f64, op_id = 3} : tensor<1x4xf32>
  %y2 = weft.mul %d, %k : tensor<1x4xf32>, tensor<f32>
  %y3 = weft.mul %y2, %k {weft.scope = "overflow"} : tensor<1x4xf32>, tensor<f32>
  %loss = weft.reduce mean %y3 dims [0, 1] : tensor<1x4xf32>
  weft.return %loss : tensor<f32>
}
