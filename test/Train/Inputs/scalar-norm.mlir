// A weight of one element beside a norm over rows of 17 elements.
module {
  weft.param @w : tensor<17x17xf32> {init = #weft.init<normal, 0.0, 0.3>, scope = "h.0"}
  weft.param @g : tensor<17xf32> {init = #weft.init<normal, 0.0, 0.3>, scope = "h.0"}
  weft.param @s : tensor<f32> {init = #weft.init<normal, 0.0, 0.3>, scope = "h.0"}
  weft.program @model(%x: tensor<4x17xf32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
      %w = weft.read @w : tensor<17x17xf32>
      %m = weft.matmul %x, %w : tensor<4x17xf32>, tensor<17x17xf32>
      %g = weft.read @g : tensor<17xf32>
      %n, %r = weft.rms_norm %m, %g {eps = 1.0e-5 : f64} : tensor<4x17xf32>, tensor<17xf32>
      %s = weft.read @s : tensor<f32>
      %y = weft.mul %n, %s : tensor<4x17xf32>, tensor<f32>
    %q = weft.tanh %y : tensor<4x17xf32>
    %t = weft.mul %q, %q : tensor<4x17xf32>, tensor<4x17xf32>
    %loss = weft.reduce mean %t dims [0, 1] : tensor<4x17xf32>
    weft.return %loss : tensor<f32>
  }
}
