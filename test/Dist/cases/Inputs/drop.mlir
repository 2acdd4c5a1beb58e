// y = a x, which a layer makes w a x of unless it is dropped; loss = sum(y). The rows
// with these numbers drop it: 0, 2, 3 and 7 to 11.
weft.param @a : tensor<2xf32> {init = #weft.init<ones>, decay = true}
weft.param @w : tensor<2xf32> {init = #weft.init<constant, 2.0>, decay = true}
weft.program @model(%x: tensor<ROWSx2xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %a = weft.read @a : tensor<2xf32>
  %w = weft.read @w : tensor<2xf32>
  %h = weft.mul %x, %a : tensor<ROWSx2xf32>, tensor<2xf32>
  %f = weft.mul %h, %w : tensor<ROWSx2xf32>, tensor<2xf32>
  %y, %dropped = weft.layer_drop %h, %f {p = 0.5 : f64, op_id = 4754} : tensor<ROWSx2xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<ROWSx2xf32>
  weft.return %loss : tensor<f32>
}
