// y = a x, which a layer that is always dropped makes infinite: exp(1000 a x) w.
weft.param @a : tensor<2xf32> {init = #weft.init<ones>}
weft.param @w : tensor<2x2xf32> {init = #weft.init<constant, 2.0>}
weft.program @model(%x: tensor<ROWSx2xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %a = weft.read @a : tensor<2xf32>
  %w = weft.read @w : tensor<2x2xf32>
  %thousand = weft.constant dense<1000.0> : tensor<f32>
  %h = weft.mul %x, %a : tensor<ROWSx2xf32>, tensor<2xf32>
  %big = weft.mul %h, %thousand : tensor<ROWSx2xf32>, tensor<f32>
  %infinite = weft.exp %big : tensor<ROWSx2xf32>
  %f = weft.matmul %infinite, %w : tensor<ROWSx2xf32>, tensor<2x2xf32>
  %y, %dropped = weft.layer_drop %h, %f {p = 0.9999999999 : f64, op_id = 1} : tensor<ROWSx2xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<ROWSx2xf32>
  weft.return %loss : tensor<f32>
}
