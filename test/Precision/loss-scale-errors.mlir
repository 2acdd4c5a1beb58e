// RUN: not weft-opt --weft-loss-scale="scaler=apex" %s 2>&1 | FileCheck %s --check-prefix=POLICY
// RUN: not weft-opt --weft-loss-scale="mode=auto" %s 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not weft-opt --weft-loss-scale="mode=0" %s 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not weft-opt --weft-loss-scale="mode=-2" %s 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not weft-opt --weft-loss-scale="mode=inf" %s 2>&1 | FileCheck %s --check-prefix=INF
// RUN: not weft-opt --weft-loss-scale="mode=nan" %s 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not weft-opt --weft-loss-scale="scaler=torch,init=1e39" %s 2>&1 | FileCheck %s --check-prefix=INIT
// RUN: not weft-opt --weft-loss-scale="mode=8 scaler=torch,growth=3" %s 2>&1 | FileCheck %s --check-prefix=STATIC
// RUN: not weft-opt --weft-loss-scale="scaler=torch,growth=1" %s 2>&1 | FileCheck %s --check-prefix=GROWTH
// RUN: not weft-opt --weft-loss-scale="scaler=torch,growth=inf" %s 2>&1 | FileCheck %s --check-prefix=GROWTHINF
// RUN: not weft-opt --weft-loss-scale="scaler=torch,backoff=1" %s 2>&1 | FileCheck %s --check-prefix=BACKOFF
// RUN: not weft-opt --weft-loss-scale="scaler=torch,backoff=0" %s 2>&1 | FileCheck %s --check-prefix=BACKOFFZERO
// RUN: not weft-opt --weft-loss-scale="scaler=torch,interval=0" %s 2>&1 | FileCheck %s --check-prefix=INTERVAL
// RUN: not weft-opt --weft-loss-scale="scaler=deepspeed,hysteresis=0" %s 2>&1 | FileCheck %s --check-prefix=HYSTERESIS
// RUN: not weft-opt --weft-loss-scale="scaler=torch,hysteresis=2" %s 2>&1 | FileCheck %s --check-prefix=TORCH
// RUN: not weft-opt --weft-loss-scale="scaler=torch,minimum=-1" %s 2>&1 | FileCheck %s --check-prefix=MINIMUM
// RUN: not weft-opt --weft-loss-scale="scaler=deepspeed,init=0.5" %s 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: not weft-opt --weft-loss-scale="scaler=torch,growth=1.00000001" %s 2>&1 | FileCheck %s --check-prefix=ROUNDED
// RUN: not weft-opt --weft-loss-scale="scaler=torch,backoff=0.99999999999" %s 2>&1 | FileCheck %s --check-prefix=ROUNDEDBACKOFF
// RUN: not weft-opt --weft-loss-scale="scaler=torch,minimum=1e-60" %s 2>&1 | FileCheck %s --check-prefix=TINY
// RUN: not weft-opt --weft-loss-scale="scaler=torch,rate=2" %s 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not weft-opt --weft-loss-scale="scaler=torch,init=many" %s 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not weft-opt --weft-loss-scale="scaler=torch,interval=1.5" %s 2>&1 | FileCheck %s --check-prefix=INTEGER
// RUN: not weft-opt --weft-loss-scale="scaler=deepspeed,consecutive=maybe" %s 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: not weft-opt --weft-loss-scale="scaler=torch,consecutive=true" %s 2>&1 | FileCheck %s --check-prefix=CONSECUTIVE

// Numbers that are no loss scale.

// POLICY: loss-scale-errors.mlir:[[#]]:1: error: expects policy to be torch, deepspeed, mmcv, deepspeed_fused or colossalai, but got apex
// MODE: expects mode to be dynamic or a number, but got auto
// ZERO: loss-scale-errors.mlir:[[#]]:1: error: expects the loss scale to be above 0 and finite in f32, as its inverse, but got 0
// NEGATIVE: expects the loss scale to be above 0 and finite in f32, as its inverse, but got -2
// INF: expects the loss scale to be above 0 and finite in f32, as its inverse, but got inf
// NAN: expects the loss scale to be above 0 and finite in f32, as its inverse, but got nan
// INIT: expects init to be above 0 and finite in f32, as its inverse, but got 1e+39
// STATIC: expects no scaler with a static loss scale, but got torch,growth=3; use mode=dynamic
// GROWTH: expects growth to be finite in f32 and above 1, but got 1
// GROWTHINF: expects growth to be finite in f32 and above 1, but got inf
// BACKOFF: expects backoff to lie in (0, 1) in f32, but got 1
// BACKOFFZERO: expects backoff to lie in (0, 1) in f32, but got 0
// INTERVAL: expects interval to be at least 1, but got 0
// HYSTERESIS: expects hysteresis to be at least 1, but got 0
// TORCH: expects hysteresis to be 1 with this policy, but got 2
// MINIMUM: expects minimum to be 0, or above 0 and finite in f32, as its inverse, but got -1
// BELOW: expects init to be at least the minimum, but got 0.5
// ROUNDED: expects growth to be finite in f32 and above 1, but got 1.00000001
// ROUNDEDBACKOFF: expects backoff to lie in (0, 1) in f32, but got
// TINY: expects minimum to be 0, or above 0 and finite in f32, as its inverse, but got 1e-60
// CONSECUTIVE: expects consecutive to be false with this policy, but got true
// NAME: expects a number of the loss scale to be init, growth, backoff, interval, hysteresis, minimum or consecutive, but got rate
// NUMBER: expects init to be a number, but got many
// INTEGER: expects interval to be an integer, but got 1.5
// FLAG: expects consecutive to be true or false, but got maybe

module {
}
