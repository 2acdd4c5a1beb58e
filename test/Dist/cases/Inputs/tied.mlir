// Embedding of VOCAB tokens, a linear layer, and a head that is the embedding.
weft.param @emb.weight : tensor<VOCABx3xf32> {init = #weft.init<zeros>}
weft.param @h.0.fc : tensor<3x3xf32> {init = #weft.init<zeros>}
weft.param @head.weight : tensor<VOCABx3xf32> {tie = @emb.weight}
weft.program @model(%x: tensor<ROWSxi32> {weft.input = "x"}, %label: tensor<ROWSxi32> {weft.input = "label"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %emb = weft.read @emb.weight : tensor<VOCABx3xf32>
  %fc = weft.read @h.0.fc : tensor<3x3xf32>
  %head = weft.read @head.weight : tensor<VOCABx3xf32>
  %e = weft.embedding %emb, %x : tensor<VOCABx3xf32>, tensor<ROWSxi32>
  %h = weft.matmul %e, %fc {transpose_rhs} : tensor<ROWSx3xf32>, tensor<3x3xf32>
  %y = weft.matmul %h, %head {transpose_rhs} : tensor<ROWSx3xf32>, tensor<VOCABx3xf32>
  %loss, %lse, %denom = weft.cross_entropy %y, %label : tensor<ROWSxVOCABxf32>, tensor<ROWSxi32>
  weft.return %loss : tensor<f32>
}
