// RUN: weft-opt --split-input-file --verify-diagnostics %s

// Discardable attributes `weft.NAME`: each has a rule, and no other name is one.

// expected-error @below {{expects no attribute "weft.learning_rate": weft has none of that name}}
weft.param @w : tensor<4xf32> {weft.learning_rate = 1.0 : f64}

// -----

// expected-error @below {{expects no attribute "weft.frobnicate": weft has none of that name}}
module attributes {weft.frobnicate} {
}

// -----

// expected-error @below {{expects "weft.lr_scale" to be a finite f64, but got "x"}}
weft.param @w : tensor<4xf32> {weft.lr_scale = "x"}

// -----

// expected-error @below {{expects "weft.scope" to be text, but got 3 : i64}}
weft.param @w : tensor<4xf32> {weft.scope = 3}

// -----

// expected-error @below {{expects "weft.optimizer" to be "adamw", "adam" or "sgd", but got 5 : i64}}
weft.param @w : tensor<4xf32> {weft.optimizer = 5}

// -----

// expected-error @below {{expects "weft.numbers" to be a dictionary of f64, or bool for flags, whose keys are among beta1, beta2, eps, weight_decay, momentum, nesterov, but got {beta1 = 5 : i64}}}
weft.param @w : tensor<4xf32> {weft.numbers = {beta1 = 5}}

// -----

// expected-error @below {{expects "weft.numbers" to be a dictionary of}}
weft.param @w : tensor<4xf32> {weft.numbers = {betax = 0.5 : f64}}

// -----

// expected-error @below {{expects "weft.numbers" to be a dictionary of}}
weft.param @w : tensor<4xf32> {weft.numbers = 3}

// -----

// expected-error @below {{expects "weft.scaler" to be a #weft.scaler, but got 3 : i64}}
weft.state @s : tensor<f32> {kind = #weft.state_kind<scaler>, weft.scaler = 3}

// -----

// expected-error @below {{expects a loss scale of torch, deepspeed, mmcv, deepspeed_fused or colossalai, but got apex}}
weft.state @s : tensor<f32> {kind = #weft.state_kind<scaler>, weft.scaler = #weft.scaler<apex>}

// -----

// expected-error @below {{expects a number of a loss scale, but got rate}}
weft.state @s : tensor<f32> {kind = #weft.state_kind<scaler>, weft.scaler = #weft.scaler<torch, rate = 2.0>}

// -----

// expected-error @below {{expects each number once, but got growth twice}}
weft.state @s : tensor<f32> {kind = #weft.state_kind<scaler>, weft.scaler = #weft.scaler<torch, growth = 2.0, growth = 3.0>}

// -----

// expected-error @below {{expects growth to be finite in f32 and above 1, but got 1}}
weft.state @s : tensor<f32> {kind = #weft.state_kind<scaler>, weft.scaler = #weft.scaler<torch, growth = 1.0>}

// -----

// expected-error @below {{expects no attribute "weft.inputs" on argument 0: weft has none of that name}}
weft.program @p(%x: tensor<4xf32> {weft.input = "x", weft.inputs = "y"}) attributes {kind = #weft.kind<model>} {
  weft.return
}

// -----

// Attributes that describe the complete model have their sizes checked, and have no effect
// elsewhere.

// expected-error @below {{expects "weft.vocab" to be an i64 from 1 to 2147483647, but got 0 : i64}}
module attributes {weft.vocab = 0 : i64, weft.seq = 8 : i64} {
}

// -----

// expected-error @below {{expects "weft.seq" to be an i64 from 1 to 2147483647, but got 8 : i32}}
module attributes {weft.seq = 8 : i32} {
}

// -----

// expected-error @below {{expects "weft.batch" to be an i64 from 1 to 2147483647, but got 99999999999 : i64}}
module attributes {weft.batch = 99999999999 : i64} {
}

// -----

// expected-error @below {{expects weft.vocab and weft.seq together, but got weft.seq alone}}
module attributes {weft.seq = 8 : i64} {
}

// -----

// expected-error @below {{expects "weft.vocab" on a module, where it has an effect}}
weft.param @w : tensor<4xf32> {weft.vocab = 8 : i64}

// -----

module attributes {weft.vocab = 8 : i64, weft.seq = 4 : i64} {
  // expected-error @below {{expects output 'logits' of type 'tensor<1x8xf32>' (weft.vocab), but got none}}
  weft.program @logits(%t: tensor<1x4xi32> {weft.input = "tokens"}, %p: tensor<1xi32> {weft.input = "position"}) attributes {kind = #weft.kind<logits>} {
    weft.return
  }
}

// -----

module attributes {weft.vocab = 8 : i64, weft.seq = 4 : i64} {
  // expected-error @below {{expects input 'tokens' of type 'tensor<1x4xi32>', but got 'tensor<1x5xi32>'}}
  weft.program @logits(%t: tensor<1x5xi32> {weft.input = "tokens"}, %p: tensor<1xi32> {weft.input = "position"}) attributes {kind = #weft.kind<logits>} {
    weft.return
  }
}

// -----

// expected-error @below {{expects "weft.tokenizer_files" to be an array of texts, but got [3]}}
module attributes {weft.tokenizer_files = [3]} {
}

// -----

// expected-error @below {{expects "weft.update_groups" to be a list of dictionaries with optimizer, name, lr_scale, decay_scale and params, but got [{optimizer = "adamw"}]}}
module attributes {weft.update_groups = [{optimizer = "adamw"}]} {
}

// -----

// expected-error @below {{expects "weft.training" to be a #weft.training, but got ["adamw"]}}
module attributes {weft.training = ["adamw"]} {
}

// -----

// expected-error @below {{expects optimizers to be an array of "adamw", "adam" or "sgd", each at most once, but got ["lion"]}}
module attributes {weft.training = #weft.training<optimizers = ["lion"]>} {
}

// -----

// expected-error @below {{expects optimizers to be an array of "adamw", "adam" or "sgd", each at most once, but got ["sgd", "sgd"]}}
module attributes {weft.training = #weft.training<optimizers = ["sgd", "sgd"]>} {
}

// -----

// expected-error @below {{expects counters to list names of parameters, each once, but got "w" for "step"}}
module attributes {weft.training = #weft.training<optimizers = ["sgd"], counters = {step = "w"}>} {
}

// -----

// expected-error @below {{expects counters to list names of parameters, each once, but got [] for "step.late"}}
module attributes {weft.training = #weft.training<optimizers = ["sgd"], counters = {step = ["w"], step.late = []}>} {
}

// -----

// expected-error @below {{expects counters to list names of parameters, each once, but got ["w", "w"] for "step"}}
module attributes {weft.training = #weft.training<optimizers = ["sgd"], counters = {step = ["w", "w"]}>} {
}

// -----

// expected-error @below {{expects counters and index_inputs with an entry, but got none}}
module attributes {weft.training = #weft.training<optimizers = ["sgd"], counters = {}>} {
}

// -----

// expected-error @below {{expects counters and index_inputs with an entry, but got none}}
module attributes {weft.training = #weft.training<optimizers = ["sgd"], index_inputs = []>} {
}

// -----

// expected-error @below {{expects "weft.weights" to be an array of dictionaries with path and xxh3 as text, but got [{path = "w"}]}}
module attributes {weft.weights = [{path = "w"}]} {
}

// -----

// expected-error @below {{expects metrics to list names of outputs, each once, but got ["hits", "hits"]}}
module attributes {weft.training = #weft.training<optimizers = ["sgd"], metrics = ["hits", "hits"]>} {
}

// -----

// expected-error @below {{expects index_inputs to be an array of #weft.index_input, one for each input, but got "label"}}
module attributes {weft.training = #weft.training<optimizers = ["sgd"], index_inputs = ["label"]>} {
}

// -----

// expected-error @+2 {{expects a limit of at least 1 for the input "label", but got 0}}
// expected-error @+1 {{failed to parse Weft_TrainingAttr parameter 'index_inputs'}}
module attributes {weft.training = #weft.training<optimizers = ["sgd"], index_inputs = [#weft.index_input<"label", limit = 0>]>} {
}

// -----

// expected-error @below {{expects "weft.training" on a module, where it has an effect}}
weft.param @w : tensor<4xf32> {weft.training = #weft.training<optimizers = ["sgd"]>}

// -----

// expected-error @below {{expects "weft.options" to be a dictionary of texts, but got {batch = 3 : i64}}}
module attributes {weft.options = {batch = 3}} {
}

// -----

// expected-error @below {{expects "weft.option_files" to be a dictionary of texts, but got ["groups"]}}
module attributes {weft.option_files = ["groups"]} {
}

// -----

// expected-error @below {{expects "weft.config" to be a dictionary of dictionaries with a value each, but got {n = {}}}}
module attributes {weft.config = {n = {}}} {
}

// -----

// expected-error @below {{expects "weft.grain" to be an i64 of at least 1, but got 0 : i64}}
weft.param @w : tensor<4xf32> {weft.grain = 0 : i64}

// -----

// expected-error @below {{expects "weft.sizes" to be an array<i64> of numbers of at least 1, but got array<i64: 4, 0>}}
weft.param @w : tensor<4xf32> {weft.sizes = array<i64: 4, 0>}

// -----

// expected-error @below {{expects "weft.over" to be array<i64>, but got 1 : i64}}
weft.param @w : tensor<4xf32> {weft.over = 1 : i64}

// -----

// expected-error @below {{expects "weft.kernel_kind" to be a #weft.kernel_kind, but got "rows"}}
weft.param @w : tensor<4xf32> {weft.kernel_kind = "rows"}

// -----

// expected-error @below {{expects "weft.inplace" to be an array of array<i64>, but got [0]}}
weft.param @w : tensor<4xf32> {weft.inplace = [0]}

// -----

module attributes {weft.vocab = 8 : i64, weft.seq = 4 : i64} {
  // expected-error @below {{'weft.program' op requires attribute 'kind'}}
  weft.program @logits() {
    weft.return
  }
}

// -----

module attributes {weft.vocab = 8 : i64, weft.seq = 4 : i64} {
  // expected-error @below {{'weft.program' op requires attribute 'function_type'}}
  "weft.program"() ({
  }) {sym_name = "p", kind = #weft.kind<model>} : () -> ()
}

// -----

weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
  // expected-error @below {{expects a standard deviation of at least 0, but got -1}}
  %w = weft.random_normal %seed {key = "w", mean = 0.0 : f64, std = -1.0 : f64} : tensor<4xf32>
  weft.return
}

// -----

weft.program @init(%seed: tensor<i64> {weft.input = "seed"}) attributes {kind = #weft.kind<init>} {
  // expected-error @below {{expects low <= high, but got 1.0}}
  %w = weft.random_uniform %seed {key = "w", low = 1.0 : f64, high = 0.0 : f64} : tensor<4xf32>
  weft.return
}

// -----

weft.program @init(%seed: tensor<i64> {weft.input = "seed"}, %r: tensor<i64> {weft.input = "rank"}) attributes {kind = #weft.kind<init>} {
  // expected-error @below {{expects a flat result, but got 'tensor<2x4xf32>'}}
  %w = weft.random_slice %seed, %r [#weft.draw<"w", <ones>, at 0 to 8>] : tensor<2x4xf32>
  weft.return
}

// -----

weft.program @init(%seed: tensor<i64> {weft.input = "seed"}, %r: tensor<i64> {weft.input = "rank"}) attributes {kind = #weft.kind<init>} {
  // expected-error @below {{expects draws in the order of their elements, but got "b" at 7 before 8}}
  %w = weft.random_slice %seed, %r [#weft.draw<"a", <ones>, at 0 to 8>, #weft.draw<"b", <ones>, at 7 to 9>] : tensor<4xf32>
  weft.return
}

// -----

// expected-error @below {{expects elements of "w" from 0 on, but got 3 to 3}}
weft.param @w : tensor<4xf32> {test.draw = #weft.draw<"w", <ones>, at 3 to 3>}

// -----

// expected-error @below {{expects "weft.fingerprint" to be 32 hexadecimal digits, but got "abc"}}
module attributes {weft.fingerprint = "abc"} {
}

// -----

// expected-error @below {{expects "weft.computes" on a kernel}}
weft.param @w : tensor<4xf32> {weft.computes = ["add"], weft.kernel_kind = #weft.kernel_kind<rows>}

// -----

// expected-error @below {{expects "weft.computes" to be an array of names of ops, each once, but got ["a b"]}}
func.func private @k() attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.computes = ["a b"]}

// -----

// expected-error @below {{expects "weft.computes" to be an array of names of ops, each once, but got []}}
func.func private @k() attributes {weft.kernel_kind = #weft.kernel_kind<rows>, weft.computes = []}

// -----

// expected-error @below {{expects "weft.computes" to be an array of names of ops, each once, but got ["add", "add"]}}
weft.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[0]] attributes {weft.computes = ["add", "add"]} {
  %e = weft.exp %x : tensor<8xf32>
  weft.yield %e : tensor<8xf32>
}

// -----

weft.program @update(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @below {{expects "weft.update" to be an i64 of at least 0, but got -1 : i64}}
  %y = weft.exp %x {weft.update = -1} : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

// expected-error @below {{expects "weft.update" in a program}}
func.func private @f() attributes {weft.update = 0}

// -----

// expected-error @below {{expects "weft.formula" in a program}}
func.func private @f() attributes {weft.formula = "softmax"}

// -----

weft.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> elementwise [8] inplace [[0]] {
  // expected-error @below {{expects "weft.formula" in a program}}
  %e = weft.exp %x {weft.formula = "softmax"} : tensor<8xf32>
  weft.yield %e : tensor<8xf32>
}

// -----

weft.program @formula(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @below {{expects "weft.formula" to be the name of an op, but got "a b\0A"}}
  %y = weft.exp %x {weft.formula = "a b\n"} : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

weft.program @repeats(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<4xf32> {weft.output = "y"}) attributes {kind = #weft.kind<eval>} {
  // expected-error @below {{expects "weft.repeats" on an update}}
  %y = weft.exp %x {weft.repeats = #weft.repeats<update = 0, states = [], results = 0>} : tensor<4xf32>
  weft.return %y : tensor<4xf32>
}

// -----

// expected-error @below {{expects the number of an update, symbols of states, each once, and numbers of results, but got 0, ["a"] and [0]}}
weft.param @w : tensor<4xf32> {weft.repeats = #weft.repeats<update = 0, states = ["a"], results = 0>}

// -----

// expected-error @below {{expects the number of an update, symbols of states, each once, and numbers of results, but got 0, [@a, @a] and [0]}}
weft.param @w : tensor<4xf32> {weft.repeats = #weft.repeats<update = 0, states = [@a, @a], results = 0>}
