// RUN: weft-opt %s --weft-tie-params --split-input-file --verify-diagnostics

// expected-error @below {{expects tie to name a parameter, but got @gone, which does not exist}}
weft.param @a : tensor<4xf32> {tie = @gone}

// -----

// expected-note @below {{that symbol is defined here}}
weft.state @s : tensor<4xf32> {kind = #weft.state_kind<optimizer>}
// expected-error @below {{expects tie to name a parameter, but got @s}}
weft.param @a : tensor<4xf32> {tie = @s}

// -----

// expected-error @below {{expects ties to end at an untied parameter, but got a cycle through @a}}
weft.param @a : tensor<4xf32> {tie = @b}
weft.param @b : tensor<4xf32> {tie = @a}

// -----

// expected-note @below {{tied to this parameter}}
weft.param @a : tensor<4xf32>
// expected-error @below {{expects the type of its tie @a, 'tensor<4xf32>', but got 'tensor<8xf32>'}}
weft.param @b : tensor<8xf32> {tie = @a}

// -----

// expected-note @below {{tied to this parameter}}
weft.param @a : tensor<4xf32>
// expected-error @below {{expects trainable as in its tie @a, but got false}}
weft.param @b : tensor<4xf32> {tie = @a, trainable = false}
