// y = a x, which each of two layers that are always dropped makes something of that is
// infinite: exp(1000 a x) w, itself a layer, which is never dropped.
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
  %s, %never = weft.layer_drop %big, %f {p = 1.0e-10 : f64, op_id = 1} : tensor<ROWSx2xf32>
  %one = weft.mul %s, %thousand : tensor<ROWSx2xf32>, tensor<f32>
  %y1, %d1 = weft.layer_drop %h, %one {p = 0.9999999999 : f64, op_id = 2} : tensor<ROWSx2xf32>
  %two = weft.add %y1, %s : tensor<ROWSx2xf32>, tensor<ROWSx2xf32>
  %y, %d2 = weft.layer_drop %y1, %two {p = 0.9999999999 : f64, op_id = 3} : tensor<ROWSx2xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<ROWSx2xf32>
  weft.return %loss : tensor<f32>
}
