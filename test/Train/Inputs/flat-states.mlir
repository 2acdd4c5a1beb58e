// flat-net.mlir after the phase partition, written with flat states: its three
// parameters lie in one tensor of 1536 elements, each at a multiple of 128, and
// so do their gradients and moments.
#w1 = #weft.segment<@fc1.weight [16, 64] at 0 to 1024>
#b1 = #weft.segment<@fc1.bias [16] at 1152 to 1168>
#w2 = #weft.segment<@fc2.weight [10, 16] at 1280 to 1440>
module @net attributes {weft.batch = 8 : i64, weft.family = "mlir", weft.fingerprint = "0bb1374c7a56e827df19e6bc60e49467", weft.options = {}, weft.training = #weft.training<optimizers = ["adamw"], index_inputs = [#weft.index_input<"label", limit = 10, ignore = -100>]>} {
  weft.param @net.flat : tensor<1536xf32> {segments = [#w1, #weft.segment<@fc1.bias [16] at 1152 to 1168 source "layers.0.bias">, #w2]}
  weft.state @net.flat.grad : tensor<1536xf32> {kind = #weft.state_kind<gradient>, param = @net.flat, slot = "grad", segments = [#w1, #b1, #w2]}
  weft.state @step : tensor<i64> {kind = #weft.state_kind<optimizer>}
  weft.state @net.flat.exp_avg : tensor<1536xf32> {kind = #weft.state_kind<optimizer>, param = @net.flat, slot = "exp_avg", segments = [#w1, #b1, #w2]}
  weft.state @net.flat.exp_avg_sq : tensor<1536xf32> {kind = #weft.state_kind<optimizer>, param = @net.flat, slot = "exp_avg_sq", segments = [#w1, #b1, #w2]}

  weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
    %w1 = weft.random_uniform %seed {high = 1.250000e-01 : f64, key = "fc1.weight", low = -1.250000e-01 : f64} : tensor<16x64xf32>
    %b1 = weft.random_uniform %seed {high = 1.250000e-01 : f64, key = "fc1.bias", low = -1.250000e-01 : f64} : tensor<16xf32>
    %w2 = weft.random_normal %seed {key = "fc2.weight", mean = 0.000000e+00 : f64, std = 2.000000e-01 : f64} : tensor<10x16xf32>
    %f1 = weft.reshape %w1 : tensor<16x64xf32> to tensor<1024xf32>
    %f2 = weft.reshape %w2 : tensor<10x16xf32> to tensor<160xf32>
    %gap1 = weft.constant dense<0.000000e+00> : tensor<128xf32>
    %gap2 = weft.constant dense<0.000000e+00> : tensor<112xf32>
    %gap3 = weft.constant dense<0.000000e+00> : tensor<96xf32>
    %flat = weft.concat %f1, %gap1, %b1, %gap2, %f2, %gap3 {dim = 0} : tensor<1024xf32>, tensor<128xf32>, tensor<16xf32>, tensor<112xf32>, tensor<160xf32>, tensor<96xf32>
    %step = weft.constant dense<0> : tensor<i64>
    %zeros = weft.constant dense<0.000000e+00> : tensor<1536xf32>
    weft.return writes @net.flat = %flat : tensor<1536xf32>, @step = %step : tensor<i64>, @net.flat.exp_avg = %zeros : tensor<1536xf32>, @net.flat.exp_avg_sq = %zeros : tensor<1536xf32>
  }

  weft.program @micro(%image: tensor<8x64xf32> {weft.input = "image"}, %label: tensor<8xi32> {weft.input = "label"}, %loss_seed: tensor<f32> {weft.input = "loss_seed"}, %accumulate: tensor<f32> {weft.input = "accumulate"}) -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
    %zero = weft.constant dense<0.000000e+00> : tensor<f32>
    %flat = weft.read @net.flat : tensor<1536xf32>
    %p1 = weft.slice %flat offsets [0] sizes [1024] strides [1] : tensor<1536xf32>
    %w1 = weft.reshape %p1 : tensor<1024xf32> to tensor<16x64xf32>
    %b1 = weft.slice %flat offsets [1152] sizes [16] strides [1] : tensor<1536xf32>
    %p2 = weft.slice %flat offsets [1280] sizes [160] strides [1] : tensor<1536xf32>
    %w2 = weft.reshape %p2 : tensor<160xf32> to tensor<10x16xf32>
    %m1 = weft.matmul %image, %w1 {transpose_rhs} : tensor<8x64xf32>, tensor<16x64xf32>
    %a1 = weft.add %m1, %b1 : tensor<8x16xf32>, tensor<16xf32>
    %h1 = weft.relu %a1 : tensor<8x16xf32>
    %scores = weft.matmul %h1, %w2 {transpose_rhs} : tensor<8x16xf32>, tensor<10x16xf32>
    %loss, %lse, %denom = weft.cross_entropy %scores, %label {reduction = #weft.loss_reduction<sum>} : tensor<8x10xf32>, tensor<8xi32>

    %ds = weft.cross_entropy_grad %loss_seed, %scores, %label, %lse, %denom {reduction = #weft.loss_reduction<sum>} : tensor<f32>, tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>
    %dh = weft.matmul %ds, %w2 : tensor<8x10xf32>, tensor<10x16xf32>
    %dw2 = weft.matmul %ds, %h1 {transpose_lhs} : tensor<8x10xf32>, tensor<8x16xf32>
    %off = weft.compare le %a1, %zero : tensor<8x16xf32>, tensor<f32>
    %da = weft.select %off, %zero, %dh : tensor<8x16xi1>, tensor<f32>, tensor<8x16xf32>
    %db1 = weft.reduce sum %da dims [0] : tensor<8x16xf32>
    %dw1 = weft.matmul %da, %image {transpose_lhs} : tensor<8x16xf32>, tensor<8x64xf32>

    %old = weft.read @net.flat.grad : tensor<1536xf32>
    %o1 = weft.slice %old offsets [0] sizes [1024] strides [1] : tensor<1536xf32>
    %ow1 = weft.reshape %o1 : tensor<1024xf32> to tensor<16x64xf32>
    %ob1 = weft.slice %old offsets [1152] sizes [16] strides [1] : tensor<1536xf32>
    %o2 = weft.slice %old offsets [1280] sizes [160] strides [1] : tensor<1536xf32>
    %ow2 = weft.reshape %o2 : tensor<160xf32> to tensor<10x16xf32>
    %gw2 = weft.accumulate %ow2, %dw2, %accumulate : tensor<10x16xf32>
    %gb1 = weft.accumulate %ob1, %db1, %accumulate : tensor<16xf32>
    %gw1 = weft.accumulate %ow1, %dw1, %accumulate : tensor<16x64xf32>
    %f1 = weft.reshape %gw1 : tensor<16x64xf32> to tensor<1024xf32>
    %f2 = weft.reshape %gw2 : tensor<10x16xf32> to tensor<160xf32>
    %gap1 = weft.constant dense<0.000000e+00> : tensor<128xf32>
    %gap2 = weft.constant dense<0.000000e+00> : tensor<112xf32>
    %gap3 = weft.constant dense<0.000000e+00> : tensor<96xf32>
    %grad = weft.concat %f1, %gap1, %gb1, %gap2, %f2, %gap3 {dim = 0} : tensor<1024xf32>, tensor<128xf32>, tensor<16xf32>, tensor<112xf32>, tensor<160xf32>, tensor<96xf32>
    weft.return %loss : tensor<f32> writes @net.flat.grad = %grad : tensor<1536xf32>
  }

  weft.program @eval(%image: tensor<8x64xf32> {weft.input = "image"}, %label: tensor<8xi32> {weft.input = "label"}) -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<eval>} {
    %flat = weft.read @net.flat : tensor<1536xf32>
    %p1 = weft.slice %flat offsets [0] sizes [1024] strides [1] : tensor<1536xf32>
    %w1 = weft.reshape %p1 : tensor<1024xf32> to tensor<16x64xf32>
    %b1 = weft.slice %flat offsets [1152] sizes [16] strides [1] : tensor<1536xf32>
    %p2 = weft.slice %flat offsets [1280] sizes [160] strides [1] : tensor<1536xf32>
    %w2 = weft.reshape %p2 : tensor<160xf32> to tensor<10x16xf32>
    %m1 = weft.matmul %image, %w1 {transpose_rhs} : tensor<8x64xf32>, tensor<16x64xf32>
    %a1 = weft.add %m1, %b1 : tensor<8x16xf32>, tensor<16xf32>
    %h1 = weft.relu %a1 : tensor<8x16xf32>
    %scores = weft.matmul %h1, %w2 {transpose_rhs} : tensor<8x16xf32>, tensor<10x16xf32>
    %loss, %lse, %denom = weft.cross_entropy %scores, %label {reduction = #weft.loss_reduction<sum>} : tensor<8x10xf32>, tensor<8xi32>
    weft.return %loss : tensor<f32>
  }

  // The norm is that of the parts, in the order of a model without flat states,
  // so that its bits are the same. One update does all of them.
  weft.program @apply(%lr: tensor<f64> {weft.input = "lr"}, %beta1: tensor<f64> {weft.input = "beta1"}, %beta2: tensor<f64> {weft.input = "beta2"}, %eps: tensor<f64> {weft.input = "eps"}, %weight_decay: tensor<f64> {weft.input = "weight_decay"}, %momentum: tensor<f64> {weft.input = "momentum"}, %max_norm: tensor<f64> {weft.input = "max_norm"}) -> (tensor<f64> {weft.output = "grad_norm"}, tensor<i1> {weft.output = "found_inf"}) attributes {kind = #weft.kind<apply>} {
    %grad = weft.read @net.flat.grad : tensor<1536xf32>
    %g1 = weft.slice %grad offsets [0] sizes [1024] strides [1] : tensor<1536xf32>
    %g2 = weft.slice %grad offsets [1152] sizes [16] strides [1] : tensor<1536xf32>
    %g3 = weft.slice %grad offsets [1280] sizes [160] strides [1] : tensor<1536xf32>
    %norm, %found_inf = weft.norm_and_check %g1, %g2, %g3 {p = 2.000000e+00 : f64} : tensor<1024xf32>, tensor<16xf32>, tensor<160xf32>
    %factor = weft.clip_coefficient %norm, %max_norm
    %before = weft.read @step : tensor<i64>
    %step = weft.step_increment %before, %found_inf
    %flat = weft.read @net.flat : tensor<1536xf32>
    %m = weft.read @net.flat.exp_avg : tensor<1536xf32>
    %v = weft.read @net.flat.exp_avg_sq : tensor<1536xf32>
    %new_param, %new_exp_avg, %new_exp_avg_sq = weft.adamw(%flat, %m, %v, %grad, %factor, %found_inf, %step, %lr, %weight_decay, %beta1, %beta2, %eps) : (tensor<1536xf32>, tensor<1536xf32>, tensor<1536xf32>, tensor<1536xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1536xf32>, tensor<1536xf32>, tensor<1536xf32>)
    weft.return %norm, %found_inf : tensor<f64>, tensor<i1> writes @step = %step : tensor<i64>, @net.flat = %new_param : tensor<1536xf32>, @net.flat.exp_avg = %new_exp_avg : tensor<1536xf32>, @net.flat.exp_avg_sq = %new_exp_avg_sq : tensor<1536xf32>
  }
}
