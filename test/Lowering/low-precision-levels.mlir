// RUN: weft compile %s -o %t.v2 --precision=bf16 --target=cpu:x86-64-v2
// RUN: weft compile %s -o %t.v3 --precision=bf16 --target=cpu:x86-64-v3
// RUN: weft compile %s -o %t.half --precision=f16 --target=cpu:x86-64-v2
// RUN: weft compile %s -o %t.apart --precision=bf16 --target=cpu:x86-64-v2 --debug-nan
// Roundings to bf16 are done in integers: LLVM would call a conversion that
// libgcc lacks, and nothing would link. It could do so where it negates a gradient,
// repeats one or casts a flag.
weft.param @w : tensor<5x7xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.param @v : tensor<7x5xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.program @model(%x: tensor<5x7xf32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<5x7xf32>
  %v = weft.read @v : tensor<7x5xf32>
  %d = weft.sub %x, %w : tensor<5x7xf32>, tensor<5x7xf32>
  %y = weft.matmul %d, %v : tensor<5x7xf32>, tensor<7x5xf32>
  %c = weft.compare gt %y, %y : tensor<5x5xf32>, tensor<5x5xf32>
  %f = weft.cast %c : tensor<5x5xi1> to tensor<5x5xbf16>
  %g = weft.cast %f : tensor<5x5xbf16> to tensor<5x5xf32>
  %z = weft.add %y, %g : tensor<5x5xf32>, tensor<5x5xf32>
  %loss = weft.reduce mean %z dims [0, 1] : tensor<5x5xf32>
  weft.return %loss : tensor<f32>
}
