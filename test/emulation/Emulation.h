//===- Emulation.h - Functions for kernels on the emulation -------*- C -*-===//
//
// Kernels that run here instead of on a device are code of this machine: the
// twins that weft-twins writes, and hand-written kernels compiled with
// DeviceHost.h. They reach the emulated device by these functions; what they
// violate ends the process with exit code 99 and a message.
//
// Every call that threads make together has a `site`, a number of its place in
// the program: threads that meet have to come from one place.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_EMULATION_EMULATION_H
#define WEFT_TEST_EMULATION_EMULATION_H

#include "Twins.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Where a thread is, by dimension.
struct WeftEmuPlace {
  uint32_t thread[3], block[3], threads[3], blocks[3];
  uint32_t lane; // in its warp
};

/// The running thread's place. Valid until the thread waits: ask again then.
const struct WeftEmuPlace *weft_emu_place(void);

/// All threads of the block meet, or `threads` of them where that is not 0, at
/// one of 16 barriers.
void weft_emu_barrier(uint32_t id, uint32_t threads, int32_t site);
/// The same for all threads; gives how many came with a `value` other than 0.
uint32_t weft_emu_barrier_count(uint32_t value, int32_t site);
/// The threads of a warp that `mask` names meet.
void weft_emu_warp_barrier(uint32_t mask, int32_t site);

enum WeftEmuShuffle { WeftEmuXor, WeftEmuUp, WeftEmuDown, WeftEmuIndex };
/// PTX's shfl.sync of 32 bits: `clamp` is its operand c.
uint32_t weft_emu_shuffle(int32_t kind, uint32_t mask, uint32_t value,
                          uint32_t lane, uint32_t clamp, int32_t site);
/// A bit for each lane of `mask` whose `value` is not 0.
uint32_t weft_emu_ballot(uint32_t mask, uint32_t value, int32_t site);

/// An instruction of a whole warp: `work` runs once, when all of `mask` are
/// here, with each lane's `record` (null for others), which may be on the
/// lane's stack. Other instructions of a warp are built on it.
typedef void (*WeftEmuWarpWork)(void **records, uint32_t mask);
void weft_emu_together(uint32_t mask, void *record, WeftEmuWarpWork work,
                       int32_t site);

/// The dynamic shared memory of the block.
void *weft_emu_shared(void);

/// Copies of 16 bytes to shared memory that a thread begins and waits for
/// later, as PTX's cp.async.cg: of zeros where `from` is null. They run as late
/// as they may; until then their destination is poison.
void weft_emu_begin_copy(void *to, const void *from);
/// The copies that the thread has begun since its last call become one group.
void weft_emu_end_copies(void);
/// Waits until at most so many groups of the thread's are not made.
void weft_emu_wait_for_copies(uint32_t groups);

/// The bits of a bf16: to nearest even, any NaN as a device makes it.
uint16_t weft_emu_to_bf16(float value);

/// A checked kernel says each access to memory before it makes it.
void weft_emu_load(const void *place, uint64_t bytes);
void weft_emu_store(const void *place, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif // WEFT_TEST_EMULATION_EMULATION_H
