// RUN: weft-opt %s --weft-infer-shapes --split-input-file --verify-diagnostics

// expected-error @below {{expects a static shape, but got 'tensor<?x4xf32>'}}
weft.program @model(%x: tensor<?x4xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %loss = weft.constant dense<0.0> : tensor<f32>
  weft.return %loss : tensor<f32>
}

// -----

// expected-error @below {{expects a static shape, but got 'tensor<?xf32>'}}
weft.param @w : tensor<?xf32>

// -----

weft.program @model(%x: tensor<8xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects a static shape, but got 'tensor<?xf16>'}}
  %y = weft.cast %x : tensor<8xf32> to tensor<?xf16>
  %loss = weft.constant dense<0.0> : tensor<f32>
  weft.return %loss : tensor<f32>
}

// -----

// expected-error @below {{expects its type to have at most 2^40 elements, but got 'tensor<1099511627777xf32>'}}
weft.param @w : tensor<1099511627777xf32>

// -----

// expected-error @below {{expects input 0 to have at most 2^40 elements, but got 'tensor<1099511627777xf32>'}}
weft.program @model(%x: tensor<1099511627777xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %loss = weft.constant dense<0.0> : tensor<f32>
  weft.return %loss : tensor<f32>
}

// -----

weft.program @model(%x: tensor<1048576x1xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects result 0 to have at most 2^40 elements, but got 'tensor<1048576x4194304xf32>'}}
  %y = weft.broadcast %x : tensor<1048576x1xf32> to tensor<1048576x4194304xf32>
  %loss = weft.reduce sum %y dims [0, 1] : tensor<1048576x4194304xf32>
  weft.return %loss : tensor<f32>
}
