// RUN: weft-opt %s --split-input-file --verify-diagnostics
// The facts of a kernel: none may be missing, and they go with each other and with the body.

// expected-error @below {{expects elementwise, rows or columns, the kind of the kernel}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects elementwise, rows or columns, but got flat}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> flat [32] inplace [[0]] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expected 'inplace'}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [32] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expected '['}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise inplace [[0]] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects no sizes among attributes: it has a place before them}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [32] inplace [[0]] attributes {sizes = array<i64: 32>} {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{'weft.kernel' op requires attribute 'over'}}
"weft.kernel"() ({
^bb0(%x: tensor<4xf32>):
  "weft.yield"(%x) : (tensor<4xf32>) -> ()
}) {sym_name = "k", function_type = (tensor<4xf32>) -> tensor<4xf32>, kind = #weft.kernel_kind<elementwise>, sizes = array<i64: 4>, inplace = [array<i64>]} : () -> ()

// -----

// expected-error @below {{'weft.kernel' op attribute 'inplace' failed to satisfy constraint: an array of array<i64>}}
"weft.kernel"() ({
^bb0(%x: tensor<4xf32>):
  "weft.yield"(%x) : (tensor<4xf32>) -> ()
}) {sym_name = "k", function_type = (tensor<4xf32>) -> tensor<4xf32>, kind = #weft.kernel_kind<elementwise>, sizes = array<i64: 4>, over = array<i64>, inplace = [1]} : () -> ()

// -----

// expected-error @below {{expects sizes of at least 1 with a product below 2^63, but got [8, 0]}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [8, 0] inplace [[0]] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects sizes of at least 1 with a product below 2^63, but got [4294967296, 4294967296]}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [4294967296, 4294967296] inplace [[0]] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects ascending numbers of the dimensions [8, 4] in over, but got [2]}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> rows [8, 4] over [2] inplace [[0]] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects ascending numbers of the dimensions [8, 4] in over, but got [1, 0]}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> rows [8, 4] over [1, 0] inplace [[0]] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects an elementwise kernel over nothing, but got over [1]}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [8, 4] over [1] inplace [[0]] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects rows over the last dimension, but got over [0]}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> rows [8, 4] over [0] inplace [[0]] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects columns over other dimensions than the last one, but got over []}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> columns [8, 4] inplace [[0]] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects columns over other dimensions than the last one, but got over [1]}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> columns [8, 4] over [1] inplace [[0]] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects sums in a kernel of rows alone, but got sums [1] in one that is columns}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<4xf32> columns [8, 4] over [0] sums [1] inplace [[]] {
  %y = weft.reduce sum %x dims [0] : tensor<8x4xf32>
  weft.yield %y : tensor<4xf32>
}

// -----

// expected-error @below {{expects ascending numbers of the dimensions [2, 4, 4] without [2] in sums, but got [2]}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> rows [2, 4, 4] over [2] sums [2] inplace [[0]] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects ascending numbers of the dimensions [8, 4] without [1] in sums, but got []}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> rows [8, 4] over [1] sums [] inplace [[0]] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects 32 or 8 or 16 elements in result 0, but got 'tensor<4xf32>'}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<4xf32> rows [4, 2, 4] over [2] sums [1] inplace [[]] {
  %y = weft.reduce sum %x dims [0] : tensor<8x4xf32>
  weft.yield %y : tensor<4xf32>
}

// -----

// expected-error @below {{expects 64 elements in result 0, but got 'tensor<8x4xf32>'}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [64] inplace [[0]] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects 64 or 8 elements in result 0, but got 'tensor<8x4xf32>'}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> rows [8, 8] over [1] inplace [[0]] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> rows [4, 8] over [1] inplace [[]] {
  // expected-error @below {{expects to reduce 32 elements to 4, as its kernel says, but got 32 and 8}}
  %s = weft.reduce sum %x dims [1] : tensor<8x4xf32>
  %c = weft.reshape %s : tensor<8xf32> to tensor<8x1xf32>
  %y = weft.mul %x, %c : tensor<8x4xf32>, tensor<8x1xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects one list in inplace for each of 1 result, but got 0}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [32] inplace [] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects numbers of the 1 arguments in inplace, but got 1}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [32] inplace [[1]] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects in inplace an argument that 'tensor<8x4xf32>' of result 0 fits into, but got 'tensor<4xf32>'}}
weft.kernel @k(%x: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> elementwise [8, 4] inplace [[0, 1]] {
  %y = weft.add %x, %b : tensor<8x4xf32>, tensor<4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects in inplace an argument that 'tensor<8x4xbf16>' of result 0 fits into, but got 'tensor<8x4xf32>'}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xbf16> elementwise [32] inplace [[0]] {
  %y = weft.cast %x : tensor<8x4xf32> to tensor<8x4xbf16>
  weft.yield %y : tensor<8x4xbf16>
}

// -----

// expected-error @below {{expects one number in pitches for each of 2 arguments and results, but got 1}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [8, 4] inplace [[0]] pitches [8] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{expects in pitches 0 or at least the elements of a row, within 17592186044416 bytes, but got 3 for 'tensor<8x4xf32>'}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [8, 4] inplace [[]] pitches [8, 3] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{but got 4611686018427387904 for 'tensor<8x4xf32>'}}
weft.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> elementwise [8, 4] inplace [[]] pitches [0, 4611686018427387904] {
  %y = weft.neg %x : tensor<8x4xf32>
  weft.yield %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{but got 8 for 'tensor<4xf32>'}}
weft.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> elementwise [4] inplace [[]] pitches [8, 0] {
  %y = weft.neg %x : tensor<4xf32>
  weft.yield %y : tensor<4xf32>
}
