// DEFINE: %{plain} = sed -E 's/weft[.](formula|update) = ("[^"]*"|[0-9]+ : i64)(, )?//g; s/, [}]/}/; s/ [{][}]//'
// RUN: weft-opt %s --weft-decompose | %{plain} | FileCheck %s
// RUN: weft-opt %s --weft-select-kernels --weft-decompose --weft-fuse | FileCheck %s --check-prefix=TYPES
// RUN: weft-opt %s --weft-decompose --weft-fuse | FileCheck %s --check-prefix=SHARED
// RUN: weft-opt %s --weft-decompose -o %t.mlir
// RUN: weft-interp --compare %s %t.mlir --mode=f32 --tolerance=0 | FileCheck %s --check-prefix=SAME
// Random numbers as formulas over weft.philox: to the bit what the ops say.

// SAME: init: 0 of 2 tensors differ
// SAME: slice: 0 of 4 tensors differ
// SAME: types: 0 of 2 tensors differ
// SAME: dropout: 0 of 1 tensors differ
// SAME: no_row: 0 of 1 tensors differ
// SAME: layer: 0 of 2 tensors differ

// Streams are in one table, rows are global, elements are numbered in their row.
// CHECK-LABEL: weft.program @dropout
// CHECK-SAME: %[[X:.*]]: tensor<8x4x6xbf16> {{.*}}, %[[RNG:.*]]: tensor<2xi64>
// CHECK: %[[TABLE:.*]] = weft.constant dense<[7, 9]> : tensor<2xi64>
// CHECK: %[[FIRST1:.*]] = weft.slice %[[RNG]] offsets [1]
// CHECK: %[[FIRST:.*]] = weft.reshape %[[FIRST1]] : tensor<1xi64> to tensor<i64>
// CHECK: %[[ROWS:.*]] = weft.iota [0] : tensor<8x4x6xi64>
// CHECK: %[[ROW:.*]] = weft.add %[[FIRST]], %[[ROWS]]
// CHECK: %[[SEED1:.*]] = weft.slice %[[RNG]] offsets [0]
// CHECK: %[[SEED:.*]] = weft.reshape %[[SEED1]]
// CHECK: %[[STREAM1:.*]] = weft.slice %[[TABLE]] offsets [0]
// CHECK: %[[STREAM:.*]] = weft.reshape %[[STREAM1]]
// CHECK: %[[ELEMENT:.*]] = weft.iota [1, 2] : tensor<8x4x6xi64>
// CHECK: %[[U:.*]] = weft.philox uniform %[[SEED]], %[[STREAM]], %[[ROW]], %[[ELEMENT]]
// CHECK: %[[P:.*]] = weft.constant dense<2.500000e-01> : tensor<f32>
// CHECK: %[[KEEPS:.*]] = weft.compare ge %[[U]], %[[P]]
// CHECK: %[[WIDE:.*]] = weft.cast %[[X]] : tensor<8x4x6xbf16> to tensor<8x4x6xf32>
// CHECK: %[[SCALE:.*]] = weft.constant dense<1.33333337> : tensor<f32>
// CHECK: %[[SCALED:.*]] = weft.mul %[[WIDE]], %[[SCALE]]
// CHECK: %[[ZERO:.*]] = weft.constant dense<0.0
// CHECK: %[[Y:.*]] = weft.select %[[KEEPS]], %[[SCALED]], %[[ZERO]]
// CHECK: weft.cast %[[Y]] : tensor<8x4x6xf32> to tensor<8x4x6xbf16>
// CHECK: weft.slice %[[TABLE]] offsets [1]
weft.program @dropout(%x: tensor<8x4x6xbf16> {weft.input = "x"}, %rng: tensor<2xi64> {weft.input = "rng"})
    -> (tensor<8x4x6xbf16> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.dropout %x rng %rng : tensor<2xi64> {p = 0.25 : f64, op_id = 7} : tensor<8x4x6xbf16>
  %z = weft.dropout %y rng %rng : tensor<2xi64> {p = 0.1 : f64, op_id = 9} : tensor<8x4x6xbf16>
  weft.return %z : tensor<8x4x6xbf16>
}

// The rows of a vector have one element; where nothing is dropped the operand is left.
// CHECK-LABEL: weft.program @no_row
// CHECK: weft.iota [0] : tensor<5xi64>
// CHECK: weft.iota [] : tensor<5xi64>
// CHECK: %[[Y:.*]] = weft.select
// CHECK-NEXT: weft.return %[[Y]]
weft.program @no_row(%x: tensor<5xf32> {weft.input = "x"}, %rng: tensor<2xi64> {weft.input = "rng"})
    -> (tensor<5xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %y = weft.dropout %x rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 1} : tensor<5xf32>
  %z = weft.dropout %y {p = 0.0 : f64, op_id = 2} : tensor<5xf32>
  weft.return %z : tensor<5xf32>
}

// One number, of the first row, decides for all elements.
// CHECK-LABEL: weft.program @layer
// CHECK: %[[U:.*]] = weft.philox uniform %{{.*}} : tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>
// CHECK: %[[D:.*]] = weft.compare lt %[[U]], %{{.*}} : tensor<f32>, tensor<f32>
// CHECK: %[[Y:.*]] = weft.select %[[D]], %{{.*}}, %{{.*}} : tensor<i1>, tensor<8x6xbf16>, tensor<8x6xbf16>
// CHECK: weft.return %[[Y]], %[[D]]
weft.program @layer(%x: tensor<8x6xbf16> {weft.input = "x"}, %f: tensor<8x6xbf16> {weft.input = "f"}, %rng: tensor<2xi64> {weft.input = "rng"})
    -> (tensor<8x6xbf16> {weft.output = "y"}, tensor<i1> {weft.output = "dropped"}) attributes {kind = #weft.kind<eval>} {
  %y, %d = weft.layer_drop %x, %f rng %rng : tensor<2xi64> {p = 0.5 : f64, op_id = 7} : tensor<8x6xbf16>
  %z, %never = weft.layer_drop %x, %y {p = 0.0 : f64, op_id = 8} : tensor<8x6xbf16>
  weft.return %z, %d : tensor<8x6xbf16>, tensor<i1>
}

// CHECK-LABEL: weft.program @init
// CHECK-SAME: %[[SEED:.*]]: tensor<i64>
// CHECK: %[[TABLE:.*]] = weft.constant dense<[-{{[0-9]+}}, -{{[0-9]+}}]> : tensor<2xi64>
// CHECK: %[[ROW:.*]] = weft.constant dense<0> : tensor<i64>
// CHECK: %[[I:.*]] = weft.iota [0, 1] : tensor<7x13xi64>
// CHECK: %[[N:.*]] = weft.philox normal %[[SEED]], %{{.*}}, %[[ROW]], %[[I]]
// CHECK-DAG: %[[MEAN:.*]] = weft.constant dense<1.0
// CHECK-DAG: %[[STD:.*]] = weft.constant dense<5.0
// CHECK: %[[M:.*]] = weft.mul %[[STD]], %[[N]]
// CHECK: weft.add %[[MEAN]], %[[M]]
// CHECK: weft.philox uniform
// CHECK-DAG: weft.constant dense<-1.0
// CHECK-DAG: weft.constant dense<1.5
weft.program @init(%s: tensor<i64> {weft.input = "seed"})
    -> (tensor<7x13xf32> {weft.output = "n"}, tensor<7x6xf32> {weft.output = "u"}) attributes {kind = #weft.kind<init>} {
  %n = weft.random_normal %s {key = "a", mean = 1.0 : f64, std = 0.5 : f64} : tensor<7x13xf32>
  %u = weft.random_uniform %s {key = "b", low = -1.0 : f64, high = 0.5 : f64} : tensor<7x6xf32>
  weft.return %n, %u : tensor<7x13xf32>, tensor<7x6xf32>
}

// One draw for each element of a slice, from the stream of the parameter it is in.
// CHECK-LABEL: weft.program @slice
// CHECK-SAME: %[[SEED:.*]]: tensor<i64> {{.*}}, %[[SLICE:.*]]: tensor<i64>
// CHECK: %[[BEGIN:.*]] = weft.mul %[[SLICE]], %{{.*}} : tensor<i64>, tensor<i64>
// CHECK: %[[I:.*]] = weft.iota [0] : tensor<7xi64>
// CHECK: %[[INDEX:.*]] = weft.add %[[BEGIN]], %[[I]]
// CHECK: weft.compare ge %[[INDEX]]
// CHECK: weft.select
// CHECK: weft.philox normal %[[SEED]], %{{.*}}, %{{.*}}, %{{.*}} : tensor<i64>, tensor<7xi64>, tensor<i64>, tensor<7xi64>
// CHECK-NOT: weft.philox normal
// CHECK: weft.philox uniform %[[SEED]], %{{.*}} : tensor<i64>, tensor<9xi64>
// Draws of both kinds are chosen from.
// CHECK: weft.philox uniform
// CHECK: weft.philox normal
// CHECK: weft.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<24xi1>, tensor<24xf32>, tensor<24xf32>
weft.program @slice(%s: tensor<i64> {weft.input = "seed"}, %r: tensor<i64> {weft.input = "rank"})
    -> (tensor<7xf32> {weft.output = "n"}, tensor<9xf32> {weft.output = "u"}, tensor<24xf32> {weft.output = "all"}, tensor<4xf16> {weft.output = "low"}) attributes {kind = #weft.kind<init>} {
  %n = weft.random_slice %s, %r [#weft.draw<"a", <normal, 1.0, 0.5>, at 2 to 5>, #weft.draw<"b", <normal, 0.0, 1.0>, at 5 to 6>] : tensor<7xf32>
  %u = weft.random_slice %s, %r [#weft.draw<"a", <uniform, -1.0, 0.5>, at 0 to 9>] : tensor<9xf32>
  %all = weft.random_slice %s, %r [#weft.draw<"a", <uniform, -1.0, 0.5>, at 0 to 4>, #weft.draw<"b", <ones>, at 4 to 8>,
      #weft.draw<"c", <constant, -2.5>, at 9 to 12>, #weft.draw<"d", <zeros>, at 12 to 14>, #weft.draw<"e", <normal, 3.0, 0.5>, at 14 to 20>] : tensor<24xf32>
  %low = weft.random_slice %s, %r [#weft.draw<"a", <normal, 0.0, 0.02>, at 0 to 100>] : tensor<4xf16>
  weft.return %n, %u, %all, %low : tensor<7xf32>, tensor<9xf32>, tensor<24xf32>, tensor<4xf16>
}

// Initial values are generated in every type.
// TYPES-LABEL: weft.program @types
// TYPES: weft.call @k_{{.*}} -> tensor<8xf32>
// TYPES: weft.call @k_{{.*}} -> tensor<8xf16>
weft.program @types(%s: tensor<i64> {weft.input = "seed"})
    -> (tensor<8xf32> {weft.output = "n"}, tensor<8xf16> {weft.output = "u"}) attributes {kind = #weft.kind<init>} {
  %n = weft.random_normal %s {key = "a", mean = 0.0 : f64, std = 1.0 : f64} : tensor<8xf32>
  %u = weft.random_uniform %s {key = "b", low = 0.0 : f64, high = 1.0 : f64} : tensor<8xf16>
  weft.return %n, %u : tensor<8xf32>, tensor<8xf16>
}

// Kernels hold no stream of their own: equal layers share them.
// SHARED-LABEL: weft.program @layers
// SHARED: weft.call @[[DROP:k_[0-9a-f]+]]
// SHARED: weft.matmul
// SHARED: weft.call @[[DROP]]
weft.program @layers(%x: tensor<8x8xf32> {weft.input = "x"}, %rng: tensor<2xi64> {weft.input = "rng"})
    -> (tensor<8x8xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  %a = weft.dropout %x rng %rng : tensor<2xi64> {p = 0.25 : f64, op_id = 7} : tensor<8x8xf32>
  %b = weft.matmul %a, %x : tensor<8x8xf32>, tensor<8x8xf32>
  %c = weft.dropout %b rng %rng : tensor<2xi64> {p = 0.25 : f64, op_id = 9} : tensor<8x8xf32>
  weft.return %c : tensor<8x8xf32>
}
