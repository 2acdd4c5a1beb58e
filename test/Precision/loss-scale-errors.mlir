// RUN: not weft-opt --weft-loss-scale=policy=apex %s 2>&1 | FileCheck %s --check-prefix=POLICY
// RUN: not weft-opt --weft-loss-scale=mode=auto %s 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not weft-opt --weft-loss-scale=mode=0 %s 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not weft-opt --weft-loss-scale=mode=-2 %s 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not weft-opt --weft-loss-scale=mode=inf %s 2>&1 | FileCheck %s --check-prefix=INF
// RUN: not weft-opt --weft-loss-scale=mode=nan %s 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not weft-opt --weft-loss-scale=init=1e39 %s 2>&1 | FileCheck %s --check-prefix=INIT
// RUN: not weft-opt --weft-loss-scale="mode=8 growth=3" %s 2>&1 | FileCheck %s --check-prefix=STATIC
// RUN: not weft-opt --weft-loss-scale=growth=1 %s 2>&1 | FileCheck %s --check-prefix=GROWTH
// RUN: not weft-opt --weft-loss-scale=growth=inf %s 2>&1 | FileCheck %s --check-prefix=GROWTHINF
// RUN: not weft-opt --weft-loss-scale=backoff=1 %s 2>&1 | FileCheck %s --check-prefix=BACKOFF
// RUN: not weft-opt --weft-loss-scale=backoff=0 %s 2>&1 | FileCheck %s --check-prefix=BACKOFFZERO
// RUN: not weft-opt --weft-loss-scale=interval=0 %s 2>&1 | FileCheck %s --check-prefix=INTERVAL
// RUN: not weft-opt --weft-loss-scale="policy=deepspeed hysteresis=0" %s 2>&1 | FileCheck %s --check-prefix=HYSTERESIS
// RUN: not weft-opt --weft-loss-scale=hysteresis=2 %s 2>&1 | FileCheck %s --check-prefix=TORCH
// RUN: not weft-opt --weft-loss-scale=minimum=-1 %s 2>&1 | FileCheck %s --check-prefix=MINIMUM
// RUN: not weft-opt --weft-loss-scale="policy=deepspeed init=0.5" %s 2>&1 | FileCheck %s --check-prefix=BELOW

// Numbers that are no loss scale.

// POLICY: loss-scale-errors.mlir:[[#]]:1: error: expects policy to be torch, deepspeed or mmcv, but got apex
// MODE: expects mode to be dynamic or a number, but got auto
// ZERO: loss-scale-errors.mlir:[[#]]:1: error: expects the loss scale to be finite in f32 and above 0, but got 0.000000e+00
// NEGATIVE: expects the loss scale to be finite in f32 and above 0, but got -2.000000e+00
// INF: expects the loss scale to be finite in f32 and above 0, but got INF
// NAN: expects the loss scale to be finite in f32 and above 0, but got nan
// INIT: expects init to be finite in f32 and above 0, but got 1.000000e+39
// STATIC: expects no growth with a static loss scale; use mode=dynamic
// GROWTH: expects growth to be finite and above 1, but got 1.000000e+00
// GROWTHINF: expects growth to be finite and above 1, but got INF
// BACKOFF: expects backoff to lie in (0, 1), but got 1.000000e+00
// BACKOFFZERO: expects backoff to lie in (0, 1), but got 0.000000e+00
// INTERVAL: expects interval to be at least 1, but got 0
// HYSTERESIS: expects hysteresis to be at least 1, but got 0
// TORCH: expects hysteresis to be 1 with policy torch, but got 2
// MINIMUM: expects minimum to be finite and at least 0, but got -1.000000e+00
// BELOW: expects init to be at least the minimum, 1.000000e+00, but got 5.000000e-01

module {
}
