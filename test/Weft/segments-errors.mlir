// RUN: weft-opt %s -split-input-file -verify-diagnostics
// Every message about segments.

// expected-error @+1 {{expects sizes of at least 1 in a segment, but got 0}}
weft.param @flat : tensor<8xf32> {segments = [#weft.segment<@w [4, 0] at 0 to 0>]}

// -----

// expected-error @+1 {{expects a segment of at most 2^44 elements, but got sizes [8796093022208, 4]}}
weft.param @flat : tensor<8xf32> {segments = [#weft.segment<@w [8796093022208, 4] at 0 to 4>]}

// -----

// expected-error @+1 {{expects a segment that begins at element 0 or later, but got -1}}
weft.param @flat : tensor<8xf32> {segments = [#weft.segment<@w [4] at -1 to 3>]}

// -----

// expected-error @+1 {{expects 6 elements for the sizes [2, 3] of a segment, but got the range 1 to 6}}
weft.param @flat : tensor<8xf32> {segments = [#weft.segment<@w [2, 3] at 1 to 6>]}

// -----

// expected-error @+1 {{expects 4 elements for the sizes [4] of a segment, but got the range 8 to -9223372036854775808}}
weft.param @flat : tensor<8xf32> {segments = [#weft.segment<@w [4] at 8 to -9223372036854775808>]}

// -----

// expected-error @+1 {{expected 'at'}}
weft.param @flat : tensor<8xf32> {segments = [#weft.segment<@w [4] from 0 to 4>]}

// -----

// expected-error @+1 {{expects 1 to 100000 slices, but got 0}}
weft.param @flat : tensor<8xf32> {slices = 0, segments = [#weft.segment<@w [4] at 0 to 4>]}

// -----

// expected-error @+1 {{expects segments in a state of 2 slices, but got none}}
weft.param @flat : tensor<8xf32> {slices = 2}

// -----

// expected-error @+1 {{expects segments in a state with a slot, but got none}}
weft.state @s : tensor<8xf32> {kind = #weft.state_kind<optimizer>, slot = "exp_avg"}

// -----

// expected-error @+1 {{expects at least one segment, but got []}}
weft.param @flat : tensor<8xf32> {segments = []}

// -----

// expected-error @+1 {{expects one dimension in a state with segments, but got 'tensor<2x4xf32>'}}
weft.param @flat : tensor<2x4xf32> {segments = [#weft.segment<@w [4] at 0 to 4>]}

// -----

// expected-error @+1 {{expects a slot, the name of the values in a state with segments, but got none}}
weft.state @s : tensor<8xf32> {kind = #weft.state_kind<optimizer>, segments = [#weft.segment<@w [4] at 0 to 4>]}

// -----

// expected-error @+1 {{expects no source where a segment is no parameter, but got "v"}}
weft.state @s : tensor<8xf32> {kind = #weft.state_kind<optimizer>, slot = "exp_avg", segments = [#weft.segment<@w [4] at 0 to 4 source "v">]}

// -----

// expected-error @+1 {{expects one segment of each parameter, but got two of @w}}
weft.param @flat : tensor<8xf32> {segments = [#weft.segment<@w [4] at 0 to 4>, #weft.segment<@w [4] at 4 to 8>]}

// -----

// expected-error @+1 {{expects the segment of @v to begin at element 4 or later, but got 3}}
weft.param @flat : tensor<8xf32> {segments = [#weft.segment<@w [4] at 0 to 4>, #weft.segment<@v [4] at 3 to 7>]}

// -----

// expected-error @+1 {{expects segments inside the 16 elements of all slices, but got one that ends at 17}}
weft.param @flat : tensor<8xf32> {slices = 2, segments = [#weft.segment<@w [4] at 0 to 4>, #weft.segment<@v [4] at 13 to 17>]}

// -----

// expected-error @+1 {{expects no init, tie or source on a parameter with segments, but got #weft.init<ones>}}
weft.param @flat : tensor<8xf32> {init = #weft.init<ones>, segments = [#weft.segment<@w [4] at 0 to 4>]}

// -----

// expected-error @+1 {{expects no init, tie or source on a parameter with segments, but got "v"}}
weft.param @flat : tensor<8xf32> {source = "v", segments = [#weft.segment<@w [4] at 0 to 4>]}

// -----

// expected-note @+1 {{declared here}}
weft.param @w : tensor<4xf32>
// expected-error @+1 {{expects segments that are declared nowhere else, but got @w}}
weft.param @flat : tensor<8xf32> {segments = [#weft.segment<@w [4] at 0 to 4>]}

// -----

// expected-error @+1 {{expects no segments in a state of kind scaler}}
weft.state @s : tensor<8xf32> {kind = #weft.state_kind<scaler>, slot = "scale", segments = [#weft.segment<@w [4] at 0 to 4>]}

// -----

// expected-note @+1 {{declared here}}
weft.param @w : tensor<2x2xf32>
// expected-error @+1 {{expects sizes [2, 2] for the segment of @w, but got [4]}}
weft.state @s : tensor<8xf32> {kind = #weft.state_kind<optimizer>, slot = "exp_avg", segments = [#weft.segment<@w [4] at 0 to 4>]}

// -----

// expected-error @+1 {{expects a static shape, but got 'tensor<?xf32>'}}
weft.param @flat : tensor<?xf32> {segments = [#weft.segment<@w [4] at 0 to 4>]}

// -----

// expected-error @+1 {{expects a tensor of at most 2^44 bytes, but got 'tensor<9223372036854775807xf32>'}}
weft.param @flat : tensor<9223372036854775807xf32> {slices = 2, segments = [#weft.segment<@w [4] at 0 to 4>]}

// -----

// expected-note @+1 {{declared here}}
weft.param @flat : tensor<8xf32> {segments = [#weft.segment<@w [4] at 0 to 4>, #weft.segment<@v [4] at 4 to 8>]}
// expected-error @+1 {{expects the segment @w [4] at 0 to 4 as in @flat, but got @v [4] at 0 to 4}}
weft.state @flat.grad : tensor<8xf32> {kind = #weft.state_kind<gradient>, param = @flat, slot = "grad", segments = [#weft.segment<@v [4] at 0 to 4>, #weft.segment<@w [4] at 4 to 8>]}

// -----

// expected-note @+1 {{declared here}}
weft.param @flat : tensor<8xf32> {segments = [#weft.segment<@w [4] at 0 to 4>]}
// expected-error @+1 {{expects the segment @w [4] at 0 to 4 as in @flat, but got @w [4] at 1 to 5}}
weft.state @flat.bf16 : tensor<8xbf16> {kind = #weft.state_kind<working>, param = @flat, slot = "bf16", segments = [#weft.segment<@w [4] at 1 to 5>]}

// -----

// expected-note @+1 {{declared here}}
weft.param @flat : tensor<8xf32> {segments = [#weft.segment<@w [4] at 0 to 4>, #weft.segment<@v [4] at 4 to 8>]}
// expected-error @+1 {{expects the 2 segments of @flat, but got 1}}
weft.state @flat.exp_avg : tensor<8xf32> {kind = #weft.state_kind<optimizer>, param = @flat, slot = "exp_avg", segments = [#weft.segment<@w [4] at 0 to 4>]}

// -----

// expected-note @+1 {{declared here}}
weft.param @flat : tensor<8xf32> {segments = [#weft.segment<@w [4] at 0 to 4>]}
// expected-error @+1 {{expects the segments of @flat, but got none}}
weft.state @flat.grad : tensor<8xf32> {kind = #weft.state_kind<gradient>, param = @flat}

// -----

weft.param @w : tensor<4xf32>
weft.param @v : tensor<4xf32>
// expected-error @+1 {{expects only the segment of @w, but got 2, the first of @w}}
weft.state @m : tensor<8xf32> {kind = #weft.state_kind<optimizer>, param = @w, slot = "exp_avg", segments = [#weft.segment<@w [4] at 0 to 4>, #weft.segment<@v [4] at 4 to 8>]}

// -----

weft.param @w : tensor<4xf32>
// expected-note @+1 {{the first is here}}
weft.state @a : tensor<8xf32> {kind = #weft.state_kind<optimizer>, slot = "exp_avg", segments = [#weft.segment<@w [4] at 0 to 4>]}
// expected-error @+1 {{expects each tensor in one place, but got a second @w.exp_avg}}
weft.state @b : tensor<8xf32> {kind = #weft.state_kind<optimizer>, slot = "exp_avg", segments = [#weft.segment<@w [4] at 4 to 8>]}

// -----

weft.param @w : tensor<4xf32>
// expected-note @+1 {{the first is here}}
weft.state @a : tensor<8xf32> {kind = #weft.state_kind<optimizer>, slot = "exp_avg", segments = [#weft.segment<@w [4] at 0 to 4>]}
// expected-error @+1 {{expects each tensor in one place, but got a second @w.exp_avg}}
weft.state @w.exp_avg : tensor<4xf32> {kind = #weft.state_kind<optimizer>, param = @w}

// -----

// expected-note @+1 {{the first is here}}
weft.param @a : tensor<8xf32> {segments = [#weft.segment<@w [4] at 0 to 4>]}
// expected-error @+1 {{expects each tensor in one place, but got a second @w}}
weft.param @b : tensor<8xf32> {segments = [#weft.segment<@w [4] at 4 to 8>]}

// -----

weft.state @step : tensor<i64> {kind = #weft.state_kind<optimizer>}
// expected-error @+1 {{expects segments of parameters, but got @w}}
weft.state @m : tensor<8xf32> {kind = #weft.state_kind<optimizer>, slot = "exp_avg", segments = [#weft.segment<@w [4] at 0 to 4>]}

// -----

weft.state @step : tensor<i64> {kind = #weft.state_kind<optimizer>}
// expected-error @+1 {{expects segments of parameters, but got @step}}
weft.state @m : tensor<8xf32> {kind = #weft.state_kind<optimizer>, slot = "exp_avg", segments = [#weft.segment<@step [] at 0 to 1>]}

// -----

// expected-note @+1 {{declared here}}
weft.param @flat : tensor<8xf32> {segments = [#weft.segment<@w [2, 2] at 0 to 4>]}
// expected-error @+1 {{expects sizes [2, 2] for the segment of @w, but got [4]}}
weft.state @m : tensor<8xf32> {kind = #weft.state_kind<optimizer>, slot = "exp_avg", segments = [#weft.segment<@w [4] at 4 to 8>]}
