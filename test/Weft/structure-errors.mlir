// RUN: weft-opt %s -split-input-file -verify-diagnostics
// Every message of parameters, states, programs and kernels.

// expected-error @below {{expects a floating-point element type, but got 'tensor<4xi32>'}}
weft.param @w : tensor<4xi32>

// -----

// expected-error @below {{expects sizes of at least 1, but got 'tensor<4x0xf32>'}}
weft.param @w : tensor<4x0xf32>

// -----

// expected-error @below {{expects a static shape, but got 'tensor<?xf32>'}}
weft.param @w : tensor<?xf32>

// -----

// expected-error @below {{expects a tensor without encoding, but got 'tensor<4xf32, "csr">'}}
weft.param @w : tensor<4xf32, "csr">

// -----

weft.param @v : tensor<4xf32>
// expected-error @below {{expects no init on a tied parameter, but got #weft.init<zeros>}}
weft.param @w : tensor<4xf32> {init = #weft.init<zeros>, tie = @v}

// -----

// expected-error @below {{attribute 'type' failed to satisfy constraint}}
weft.param @w : i32

// -----

// expected-error @below {{requires attribute 'type'}}
"weft.param"() {sym_name = "w"} : () -> ()

// -----

// expected-error @below {{expects an initialisation of zeros, ones, constant, normal or uniform, but got xavier}}
weft.param @w : tensor<4xf32> {init = #weft.init<xavier>}

// -----

// expected-error @below {{expects finite numbers in an initialisation}}
weft.param @w : tensor<4xf32> {init = #weft.init<constant, 0x7FF0000000000000>}

// -----

// expected-error @below {{expects a standard deviation of at least 0, but got -1.0}}
weft.param @w : tensor<4xf32> {init = #weft.init<normal, 0.0, -1.0>}

// -----

// expected-error @below {{expects low <= high, but got 2.0}}
weft.param @w : tensor<4xf32> {init = #weft.init<uniform, 2.0, 1.0>}

// -----

// expected-error @below {{expects a static shape, but got 'tensor<?xf32>'}}
weft.state @s : tensor<?xf32> {kind = #weft.state_kind<optimizer>}

// -----

// expected-error @below {{expects param to name a parameter, but got @w}}
weft.state @s : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w}

// -----

// expected-error @below {{expects a kind of state, but got param: declare a parameter with weft.param}}
weft.state @w : tensor<4xf32> {kind = #weft.state_kind<param>}

// -----

// expected-error @below {{expects tensor<f32> in a state of kind presence, but got 'tensor<i64>'}}
weft.state @s : tensor<i64> {kind = #weft.state_kind<presence>}

// -----

weft.param @w : tensor<f32>
// expected-error @below {{expects no param and no segments in a state of kind presence, which parameters name}}
weft.state @s : tensor<f32> {kind = #weft.state_kind<presence>, param = @w}

// -----

weft.param @w : tensor<4xf32>
// expected-error @below {{expects weft.presence to name a state of kind presence, but got @w}}
weft.state @s : tensor<4xf32> {kind = #weft.state_kind<gradient>, param = @w, weft.presence = @w}

// -----

weft.state @p : tensor<f32> {kind = #weft.state_kind<presence>}
// expected-error @below {{expects weft.presence on a state of kind gradient, but got kind optimizer}}
weft.state @s : tensor<4xf32> {kind = #weft.state_kind<optimizer>, weft.presence = @p}

// -----

// expected-error @below {{expects "weft.presence" on a state}}
weft.param @w : tensor<4xf32> {weft.presence = @w}

// -----

// expected-error @below {{expects "weft.presence" to be a symbol, but got 1}}
weft.state @s : tensor<4xf32> {kind = #weft.state_kind<gradient>, weft.presence = 1}

// -----

// expected-error @below {{requires attribute 'kind'}}
weft.state @s : tensor<4xf32>

// -----

// expected-error @below {{expects ranked tensors of numbers as inputs, but got 'i32'}}
weft.program @p(%x: i32 {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  weft.return
}

// -----

// expected-error @below {{expects ranked tensors of numbers as inputs, but got 'tensor<4xindex>'}}
weft.program @p(%x: tensor<4xindex> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  weft.return
}

// -----

// expected-error @below {{expects ranked tensors of numbers as results, but got 'i32'}}
weft.program @p() -> (i32 {weft.output = "y"}) attributes {kind = #weft.kind<model>} {
  weft.return
}

// -----

// expected-error @below {{expects a static shape, but got 'tensor<?x4xf32>'}}
weft.program @p(%x: tensor<?x4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  weft.return
}

// -----

// expected-error @below {{region #0 ('body') failed to verify constraint: region with 1 blocks}}
weft.program @p() attributes {kind = #weft.kind<model>}

// -----

// expected-error @below {{expects a non-empty block}}
"weft.program"() ({
^bb0:
}) {sym_name = "p", function_type = () -> (), kind = #weft.kind<model>} : () -> ()

// -----

// expected-error @below {{expects a body that ends with weft.return, but got weft.yield}}
weft.program @p() attributes {kind = #weft.kind<model>} {
  weft.yield
}

// -----

// expected-error @below {{requires attribute 'kind'}}
weft.program @p() {
  weft.return
}

// -----

// expected-error @below {{expects a weft.input name on argument 1}}
weft.program @p(%x: tensor<4xf32> {weft.input = "x"}, %y: tensor<4xf32>) attributes {kind = #weft.kind<model>} {
  weft.return
}

// -----

// expected-error @below {{expects "weft.input" on argument 0 to be text, but got 3 : i64}}
weft.program @p(%x: tensor<4xf32> {weft.input = 3}) attributes {kind = #weft.kind<model>} {
  weft.return
}

// -----

// expected-error @below {{expects distinct input names, but got 'x' twice}}
weft.program @p(%x: tensor<4xf32> {weft.input = "x"}, %y: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<model>} {
  weft.return
}

// -----

// expected-error @below {{expects a weft.output name on result 0}}
weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) -> tensor<4xf32> attributes {kind = #weft.kind<model>} {
  weft.return %x : tensor<4xf32>
}

// -----

// expected-error @below {{expects distinct output names, but got 'y' twice}}
weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}, tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<model>} {
  weft.return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<model>} {
  // expected-error @below {{expects outputs of types ('tensor<4xf32>'), but got ()}}
  weft.return
}

// -----

weft.param @w : tensor<4xf32>
weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects one write to each state, but got two to @w}}
  weft.return writes @w = %x : tensor<4xf32>, @w = %x : tensor<4xf32>
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects a param or state, but got @w}}
  weft.return writes @w = %x : tensor<4xf32>
}

// -----

weft.param @w : tensor<8xf32>
weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects a value of type 'tensor<8xf32>' for @w, but got 'tensor<4xf32>'}}
  weft.return writes @w = %x : tensor<4xf32>
}

// -----

weft.param @w : tensor<4xf32>
weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects one target for each written value, but got 0 for 1}}
  "weft.return"(%x) {operandSegmentSizes = array<i32: 0, 1>} : (tensor<4xf32>) -> ()
}

// -----

// A return outside of a program, and a yield outside of a kernel.
// expected-error @below {{expects parent op 'weft.program'}}
weft.return

// -----

weft.program @p() attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects a param or state, but got @w}}
  %w = weft.read @w : tensor<4xf32>
  weft.return
}

// -----

// expected-note @below {{declared here}}
weft.param @w : tensor<8xf32>
weft.program @p() attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects a result of type 'tensor<8xf32>', but got 'tensor<4xf32>'}}
  %w = weft.read @w : tensor<4xf32>
  weft.return
}

// -----

weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects a kernel, but got @k_1}}
  %y = weft.call @k_1(%x) : (tensor<4xf32>) -> tensor<4xf32>
  weft.return
}

// -----

weft.kernel @k_1(%a: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[]] {
  weft.yield %a : tensor<8xf32>
}
weft.program @p(%x: tensor<4xf32> {weft.input = "x"}) attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects the types of the kernel, '(tensor<8xf32>) -> tensor<8xf32>', but got '(tensor<4xf32>) -> tensor<4xf32>'}}
  %y = weft.call @k_1(%x) : (tensor<4xf32>) -> tensor<4xf32>
  weft.return
}

// -----

weft.kernel @k_1(%a: tensor<8xf32>) -> tensor<4xf32> elementwise [4] inplace [[]] {
  // expected-error @below {{expects values of types ('tensor<4xf32>'), but got ('tensor<8xf32>')}}
  weft.yield %a : tensor<8xf32>
}

// -----

// expected-error @below {{expected '{' to begin a region}}
weft.kernel @k_1(%a: tensor<8xf32>) -> tensor<4xf32> elementwise [4] inplace [[]]

// -----

// expected-error @below {{expects ranked tensors of numbers as inputs, but got 'f32'}}
weft.kernel @k_1(%a: f32) elementwise [] inplace [] {
  weft.yield
}

// -----

// expected-error @below {{expects a body that ends with weft.yield, but got weft.return}}
weft.kernel @k_1() elementwise [] inplace [] {
  weft.return
}

// -----

weft.program @p() attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{expects a dense<...> value, but got sparse<0, 1.000000e+00>}}
  %c = weft.constant sparse<0, 1.0> : tensor<4xf32>
  weft.return
}

// -----

weft.program @p() attributes {kind = #weft.kind<micro>} {
  // expected-error @below {{must be ranked tensor of}}
  %c = weft.constant dense<1.0> : vector<4xf32>
  weft.return
}
