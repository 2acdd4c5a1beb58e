// RUN: weft-opt %s --weft-decompose --weft-fuse | FileCheck %s
// RUN: weft-opt %s --weft-decompose --weft-fuse --remarks-filter=fusion -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Updates that differ in their tensors alone are written out once. The others
// call the same kernels where they stood, with their own scope and location.
// test/campaigns/repeated-updates.py asks the interpreter.

weft.param @a : tensor<4x8xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.param @b : tensor<4x8xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.param @c : tensor<4x8xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.param @d : tensor<4x8xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.param @e : tensor<4x8xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.param @one : tensor<1xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.param @two : tensor<1xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.state @a.m : tensor<4x8xf32> {kind = #weft.state_kind<optimizer>, param = @a}
weft.state @b.m : tensor<4x8xf32> {kind = #weft.state_kind<optimizer>, param = @b}
weft.state @c.m : tensor<4x8xf32> {kind = #weft.state_kind<optimizer>, param = @c}
weft.state @d.m : tensor<4x8xf32> {kind = #weft.state_kind<optimizer>, param = @d}
weft.state @e.m : tensor<4x8xf32> {kind = #weft.state_kind<optimizer>, param = @e}
weft.state @one.m : tensor<1xf32> {kind = #weft.state_kind<optimizer>, param = @one}
weft.state @two.m : tensor<1xf32> {kind = #weft.state_kind<optimizer>, param = @two}
weft.state @g : tensor<4x8xf32> {kind = #weft.state_kind<gradient>, param = @a}
weft.state @h : tensor<4x8xf32> {kind = #weft.state_kind<gradient>, param = @b}
weft.state @og : tensor<1xf32> {kind = #weft.state_kind<gradient>, param = @one}

// @a is written out, @b and @e call its kernels. @c has another factor and @d
// a gradient that is computed: both read @h anyway, so they are one kernel.

// CHECK-LABEL: weft.program @apply
// CHECK-DAG: %[[A:.*]] = weft.read @a :
// CHECK-DAG: %[[AM:.*]] = weft.read @a.m :
// CHECK-DAG: %[[B:.*]] = weft.read @b :
// CHECK-DAG: %[[BM:.*]] = weft.read @b.m :
// CHECK-DAG: %[[E:.*]] = weft.read @e :
// CHECK-DAG: %[[EM:.*]] = weft.read @e.m :
// CHECK-DAG: %[[G:.*]] = weft.read @g :
// CHECK-DAG: %[[H:.*]] = weft.read @h :
// CHECK: %[[N:[0-9]+]]:4 = weft.call @k_{{[^(]*}}(
// CHECK-NEXT: %[[NA:[0-9]+]]:2 = weft.call @[[UPDATE:k_[0-9a-f]*]](%[[G]], %arg0, %[[A]], %[[N]]#1, %[[AM]], %[[N]]#2, %[[N]]#3, %[[N]]#0, %arg1) {weft.scope = "a"}
// CHECK-NEXT: %[[NB:[0-9]+]]:2 = weft.call @[[UPDATE]](%[[H]], %arg0, %[[B]], %[[N]]#1, %[[BM]], %[[N]]#2, %[[N]]#3, %[[N]]#0, %arg1) {weft.scope = "b"}
// CHECK-NOT: weft.call @[[UPDATE]]
// CHECK: %[[CD:[0-9]+]]:3 = weft.call @{{.*}} {weft.scope = "c"} : (tensor<4x8xf32>
// CHECK-NEXT: %[[NE:[0-9]+]]:2 = weft.call @[[UPDATE]](%[[H]], %arg0, %[[E]], %[[N]]#1, %[[EM]], %[[N]]#2, %[[N]]#3, %[[N]]#0, %arg1) {weft.scope = "e"}
// One element each: they share a kernel as others do.
// CHECK-NEXT: %[[ONES:[0-9]+]]:4 = weft.call
// CHECK-NEXT: weft.return writes @a = %[[NA]]#0 : {{.*}}, @a.m = %[[NA]]#1 : {{.*}}, @b = %[[NB]]#0 : {{.*}}, @b.m = %[[NB]]#1 : {{.*}}, @c = %[[CD]]#0 : {{.*}}, @d = %[[CD]]#1 : {{.*}}, @d.m = %[[CD]]#2 : {{.*}}, @e = %[[NE]]#0 : {{.*}}, @e.m = %[[NE]]#1 :

// REMARK: :[[@LINE+30]]:{{.*}}: remark: {{.*}}Remark="this update shares no kernels with others: a result of it does not leave the program
// REMARK: :[[@LINE+32]]:{{.*}}: remark: {{.*}}Remark="this update shares no kernels with others: it reads a computed value, not a state
// REMARK: :[[@LINE+35]]:{{.*}}: remark: {{.*}}Remark="this update shares no kernels with others: one element is a number, which shares a kernel with others
// REMARK: :[[@LINE+25]]:{{.*}}: remark: {{.*}}Remark="this update, one of 2 that differ from another only in their tensors, calls its kernels
// REMARK-NOT: this update

weft.program @apply(%coef: tensor<f32> {weft.input = "coef"}, %skip: tensor<i1> {weft.input = "skip"},
    %step: tensor<i64> {weft.input = "step"}, %lr: tensor<f64> {weft.input = "lr"}, %wd: tensor<f64> {weft.input = "wd"},
    %mu: tensor<f64> {weft.input = "mu"}) attributes {kind = #weft.kind<apply>} {
  %a = weft.read @a : tensor<4x8xf32>
  %am = weft.read @a.m : tensor<4x8xf32>
  %b = weft.read @b : tensor<4x8xf32>
  %bm = weft.read @b.m : tensor<4x8xf32>
  %c = weft.read @c : tensor<4x8xf32>
  %cm = weft.read @c.m : tensor<4x8xf32>
  %d = weft.read @d : tensor<4x8xf32>
  %dm = weft.read @d.m : tensor<4x8xf32>
  %e = weft.read @e : tensor<4x8xf32>
  %em = weft.read @e.m : tensor<4x8xf32>
  %one = weft.read @one : tensor<1xf32>
  %onem = weft.read @one.m : tensor<1xf32>
  %two = weft.read @two : tensor<1xf32>
  %twom = weft.read @two.m : tensor<1xf32>
  %g = weft.read @g : tensor<4x8xf32>
  %h = weft.read @h : tensor<4x8xf32>
  %og = weft.read @og : tensor<1xf32>
  %na, %nam = weft.sgd(%a, %am, %g, %coef, %skip, %step, %lr, %wd, %mu) {weft.scope = "a"}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %nb, %nbm = weft.sgd(%b, %bm, %h, %coef, %skip, %step, %lr, %wd, %mu) {weft.scope = "b"}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %nc, %ncm = weft.sgd(%c, %cm, %h, %coef, %skip, %step, %lr, %wd, %mu) {lr_scale = 0.5, weft.scope = "c"}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %hh = weft.exp %h {weft.scope = "d"} : tensor<4x8xf32>
  %nd, %ndm = weft.sgd(%d, %dm, %hh, %coef, %skip, %step, %lr, %wd, %mu) {weft.scope = "d"}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %ne, %nem = weft.sgd(%e, %em, %h, %coef, %skip, %step, %lr, %wd, %mu) {weft.scope = "e"}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %no, %nom = weft.sgd(%one, %onem, %og, %coef, %skip, %step, %lr, %wd, %mu)
      : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1xf32>, tensor<1xf32>)
  %nt, %ntm = weft.sgd(%two, %twom, %og, %coef, %skip, %step, %lr, %wd, %mu)
      : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<f32>, tensor<i1>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1xf32>, tensor<1xf32>)
  weft.return writes @a = %na : tensor<4x8xf32>, @a.m = %nam : tensor<4x8xf32>, @b = %nb : tensor<4x8xf32>, @b.m = %nbm : tensor<4x8xf32>, @c = %nc : tensor<4x8xf32>,
      @d = %nd : tensor<4x8xf32>, @d.m = %ndm : tensor<4x8xf32>, @e = %ne : tensor<4x8xf32>, @e.m = %nem : tensor<4x8xf32>, @one = %no : tensor<1xf32>, @one.m = %nom : tensor<1xf32>, @two = %nt : tensor<1xf32>, @two.m = %ntm : tensor<1xf32>
}
