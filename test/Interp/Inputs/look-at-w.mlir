weft.param @w : tensor<7xf32>
weft.state @w.grad : tensor<7xf32> {kind = #weft.state_kind<gradient>, param = @w}
weft.program @look() -> (tensor<7xf32> {weft.output = "w"}, tensor<7xf32> {weft.output = "grad"}) attributes {kind = #weft.kind<eval>} {
  %w = weft.read @w : tensor<7xf32>
  %g = weft.read @w.grad : tensor<7xf32>
  weft.return %w, %g : tensor<7xf32>, tensor<7xf32>
}
