// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt %s --cse --canonicalize | FileCheck %s

// Meshes, layouts and collectives are read as they are printed, and no pass
// merges or drops a collective, not even one whose result nobody reads.

// CHECK: dist.mesh @mesh("replica" = 2, "shard" = 2)
dist.mesh @mesh("replica" = 2, "shard" = 2)
// CHECK: weft.param @w : tensor<8xf32> {dist.layout = #dist.layout<sharded on "shard">
weft.param @w : tensor<8xf32> {dist.layout = #dist.layout<sharded on "shard">}
// CHECK: dist.layout = #dist.layout<replicated>
weft.state @w.grad : tensor<8xf32> {dist.layout = #dist.layout<replicated>, kind = #weft.state_kind<gradient>, param = @w}

// CHECK-LABEL: weft.program @eval
weft.program @eval(%x: tensor<4xf32> {weft.input = "x"}, %n: tensor<f64> {weft.input = "n"}, %b: tensor<i1> {weft.input = "b"})
    -> (tensor<8xf32> {weft.output = "y"}, tensor<f64> {weft.output = "sum"}, tensor<i1> {weft.output = "any"}) attributes {kind = #weft.kind<eval>} {
  // CHECK: %[[FULL:.*]] = dist.all_gather %{{.*}} on @mesh["shard"] : tensor<4xf32> to tensor<8xf32>
  // CHECK-NEXT: dist.all_gather %{{.*}} on @mesh["shard"] : tensor<4xf32> to tensor<8xf32>
  %full = dist.all_gather %x on @mesh["shard"] : tensor<4xf32> to tensor<8xf32>
  %again = dist.all_gather %x on @mesh["shard"] : tensor<4xf32> to tensor<8xf32>
  // CHECK-NEXT: dist.reduce_scatter %[[FULL]] on @mesh {post = 2.000000e+00 : f64, pre = 2.000000e+00 : f64} : tensor<8xf32> to tensor<2xf32>
  %slice = dist.reduce_scatter %full on @mesh {post = 2.0 : f64, pre = 2.0 : f64} : tensor<8xf32> to tensor<2xf32>
  // CHECK-NEXT: dist.own_slice %[[FULL]] on @mesh["shard"] : tensor<8xf32> to tensor<4xf32>
  %own = dist.own_slice %full on @mesh["shard"] : tensor<8xf32> to tensor<4xf32>
  // CHECK-NEXT: dist.rank on @mesh["shard"] : tensor<i64>
  %r = dist.rank on @mesh["shard"] : tensor<i64>
  // CHECK-NEXT: %{{.*}}:2 = dist.all_reduce %{{.*}}, %{{.*}} by [sum, or] on @mesh : tensor<f64>, tensor<i1>
  %sum, %any = dist.all_reduce %n, %b by [sum, or] on @mesh : tensor<f64>, tensor<i1>
  // CHECK-NEXT: weft.return
  weft.return %full, %sum, %any : tensor<8xf32>, tensor<f64>, tensor<i1>
}
