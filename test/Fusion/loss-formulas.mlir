// DEFINE: %{plain} = sed -E 's/weft[.](formula|update) = ("[^"]*"|[0-9]+ : i64)(, )?//g; s/, [}]/}/; s/ [{][}]//'
// RUN: weft-opt %s --weft-decompose | %{plain} | FileCheck %s
// RUN: weft-opt %s --weft-decompose --weft-fuse | FileCheck %s --check-prefix=KERNELS
// RUN: weft-opt %s --weft-decompose -o %t.mlir
// RUN: weft-interp --compare %s %t.mlir --tolerance=1e-7 | FileCheck %s --check-prefix=SAME
// Cross-entropy as a formula: no element is gathered, and rows are read twice.

// SAME: mean: 0 of 2 tensors differ
// SAME: all: 0 of 2 tensors differ
// SAME: far: 0 of 2 tensors differ

// The target's logit is the maximum of its row where the class is the target.
// CHECK-LABEL: weft.program @mean
// CHECK-SAME: %[[X:.*]]: tensor<20x50xf32> {{.*}}, %[[T:.*]]: tensor<20xi32> {{.*}}, %[[G:.*]]: tensor<f32>
// CHECK: %[[ROWS:.*]] = weft.reshape %[[T]] : tensor<20xi32> to tensor<20x1xi32>
// CHECK: %[[MAX:.*]] = weft.reduce max %[[X]] dims [1] {keep_dims}
// CHECK: %[[CLASS:.*]] = weft.iota [1] : tensor<20x50xi32>
// CHECK: %[[HIT:.*]] = weft.compare eq %[[CLASS]], %[[ROWS]]
// CHECK: %[[NONE:.*]] = weft.constant dense<0xFF800000> : tensor<f32>
// CHECK: %[[OWN:.*]] = weft.select %[[HIT]], %[[X]], %[[NONE]]
// CHECK: %[[LOGIT:.*]] = weft.reduce max %[[OWN]] dims [1] {keep_dims}
// CHECK: %[[D:.*]] = weft.sub %[[X]], %[[MAX]]
// CHECK: %[[E:.*]] = weft.exp %[[D]]
// CHECK: %[[S:.*]] = weft.reduce sum %[[E]] dims [1] {keep_dims}
// CHECK: %[[LOG:.*]] = weft.log %[[S]]
// CHECK: %[[LSE:.*]] = weft.add %[[MAX]], %[[LOG]]
// CHECK: %[[OWN_D:.*]] = weft.sub %[[LOGIT]], %[[MAX]]
// CHECK: %[[LOSS:.*]] = weft.sub %[[LOG]], %[[OWN_D]]
// CHECK: weft.compare ge %[[ROWS]]
// CHECK: weft.compare lt %[[ROWS]]
// CHECK: %[[IS_CLASS:.*]] = weft.and
// CHECK: %[[NAN:.*]] = weft.constant dense<0x7FC00000> : tensor<f32>
// CHECK: %[[IGNORED:.*]] = weft.constant dense<3> : tensor<i32>
// CHECK: %[[COUNTS:.*]] = weft.compare ne %[[ROWS]], %[[IGNORED]]
// CHECK: %[[CHECKED:.*]] = weft.select %[[IS_CLASS]], %[[LOSS]], %[[NAN]]
// CHECK: %[[COUNTED:.*]] = weft.select %[[COUNTS]], %[[CHECKED]], %{{.*}}
// CHECK: %[[TOTAL:.*]] = weft.reduce sum %[[COUNTED]] dims [0, 1]
// CHECK: %[[COUNT:.*]] = weft.reduce sum %{{.*}} dims [0, 1]
// CHECK: weft.div %[[TOTAL]], %[[COUNT]]
// CHECK: weft.exp
// CHECK-NOT: weft.reduce
// CHECK: weft.return
// One kernel for the rows, one for their sums, one for the gradient, which may
// take the logits' place.
// KERNELS-LABEL: weft.program @mean
// KERNELS-COUNT-3: weft.call
// KERNELS-NOT: weft.call
// KERNELS: weft.return
weft.program @mean(%x: tensor<20x50xf32> {weft.input = "x"}, %t: tensor<20xi32> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"})
    -> (tensor<f32> {weft.output = "l"}, tensor<20x50xf32> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %l, %lse, %n = weft.cross_entropy %x, %t {ignore_index = 3} : tensor<20x50xf32>, tensor<20xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n {ignore_index = 3} : tensor<f32>, tensor<20x50xf32>, tensor<20xi32>, tensor<20xf32>
  weft.return %l, %d : tensor<f32>, tensor<20x50xf32>
}

// With class weights and smoothing; f16 is widened first and rounded last.
// CHECK-LABEL: weft.program @all
// CHECK: weft.cast %{{.*}} : tensor<4x5x9xf16> to tensor<4x5x9xf32>
// CHECK: weft.reduce sum %{{.*}} dims [2] {keep_dims}
// CHECK: weft.cast %{{.*}} : tensor<4x5x9xf32> to tensor<4x5x9xf16>
weft.program @all(%x: tensor<4x5x9xf16> {weft.input = "x"}, %t: tensor<4x5xi64> {weft.input = "t"}, %g: tensor<f32> {weft.input = "g"}, %w: tensor<9xf32> {weft.input = "w"})
    -> (tensor<f32> {weft.output = "l"}, tensor<4x5x9xf16> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %l, %lse, %n = weft.cross_entropy %x, %t weight %w : tensor<9xf32> {label_smoothing = 0.2 : f64, reduction = #weft.loss_reduction<sum>} : tensor<4x5x9xf16>, tensor<4x5xi64>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n weight %w : tensor<9xf32> {label_smoothing = 0.2 : f64, reduction = #weft.loss_reduction<sum>} : tensor<f32>, tensor<4x5x9xf16>, tensor<4x5xi64>, tensor<4x5xf32>
  weft.return %l, %d : tensor<f32>, tensor<4x5x9xf16>
}

// An ignore index that no i32 is.
// CHECK-LABEL: weft.program @far
// CHECK: weft.cast %{{.*}} : tensor<20x1xi32> to tensor<20x1xi64>
// CHECK: weft.constant dense<1099511627776> : tensor<i64>
weft.program @far(%x: tensor<20x5xf64> {weft.input = "x"}, %t: tensor<20xi32> {weft.input = "t"}, %g: tensor<f64> {weft.input = "g"})
    -> (tensor<f64> {weft.output = "l"}, tensor<20x5xf64> {weft.output = "d"}) attributes {kind = #weft.kind<eval>} {
  %l, %lse, %n = weft.cross_entropy %x, %t {ignore_index = 1099511627776, label_smoothing = 0.1 : f64} : tensor<20x5xf64>, tensor<20xi32>
  %d = weft.cross_entropy_grad %g, %x, %t, %lse, %n {ignore_index = 1099511627776, label_smoothing = 0.1 : f64} : tensor<f64>, tensor<20x5xf64>, tensor<20xi32>, tensor<20xf64>
  weft.return %l, %d : tensor<f64>, tensor<20x5xf64>
}
