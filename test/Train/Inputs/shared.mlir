// Two losses of two weights of 10: (2a + 3b - 0.5)^2 and (0.6a - 0.5b - 0.5)^2.
weft.param @a : tensor<1xf32> {init = #weft.init<constant, 10.0>}
weft.param @b : tensor<1xf32> {init = #weft.init<constant, 10.0>}
weft.program @model(%x: tensor<1x1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "first", weft.loss = 1.0 : f64},
        tensor<f32> {weft.output = "second", weft.loss = 1.0 : f64}) attributes {kind = #weft.kind<model>} {
  %a = weft.read @a : tensor<1xf32>
  %b = weft.read @b : tensor<1xf32>
  %two = weft.constant dense<2.0> : tensor<f32>
  %three = weft.constant dense<3.0> : tensor<f32>
  %half = weft.constant dense<0.5> : tensor<f32>
  %more = weft.constant dense<0.6> : tensor<f32>
  %a2 = weft.mul %a, %two : tensor<1xf32>, tensor<f32>
  %b3 = weft.mul %b, %three : tensor<1xf32>, tensor<f32>
  %s0 = weft.add %a2, %b3 : tensor<1xf32>, tensor<1xf32>
  %d0 = weft.sub %s0, %half : tensor<1xf32>, tensor<f32>
  %q0 = weft.mul %d0, %d0 : tensor<1xf32>, tensor<1xf32>
  %l0 = weft.mul %x, %q0 : tensor<1x1xf32>, tensor<1xf32>
  %first = weft.reduce sum %l0 dims [0, 1] : tensor<1x1xf32>
  %a6 = weft.mul %a, %more : tensor<1xf32>, tensor<f32>
  %b5 = weft.mul %b, %half : tensor<1xf32>, tensor<f32>
  %s1 = weft.sub %a6, %b5 : tensor<1xf32>, tensor<1xf32>
  %d1 = weft.sub %s1, %half : tensor<1xf32>, tensor<f32>
  %q1 = weft.mul %d1, %d1 : tensor<1xf32>, tensor<1xf32>
  %l1 = weft.mul %x, %q1 : tensor<1x1xf32>, tensor<1xf32>
  %second = weft.reduce sum %l1 dims [0, 1] : tensor<1x1xf32>
  weft.return %first, %second : tensor<f32>, tensor<f32>
}
