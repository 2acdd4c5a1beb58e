//===- Ports.h - Scalars in and out of a program ----------------*- C++ -*-===//
//
// Programs take scalars (lr, loss_seed, accumulate) and give scalars (loss,
// found_inf) through ports of any element type; the runtime thinks in doubles
// and 64-bit integers.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_PORTS_H
#define WEFT_RUNTIME_DEVICES_PORTS_H

#include "weft/Base/Results.h"
#include "weft/Runtime/Execute/Context.h"

#include <functional>
#include <vector>

namespace weft {

/// The number of that type (WeftDType) at an address of any alignment.
double loadNumber(const void *address, int32_t dtype);

/// Writes it there, converted to the type.
void storeNumber(void *address, int32_t dtype, double value);

/// Element `index` of an output as a number.
double readNumber(const WeftContext &context, const WeftPort &port,
                  int64_t index = 0);
/// Writes a number to an input, converted to the type of the port.
void writeNumber(const WeftContext &context, const WeftPort &port, double value,
                 int64_t index = 0);
void writeInteger(const WeftContext &context, const WeftPort &port,
                  int64_t value, int64_t index = 0);

/// Writes the input of that name if the program has it.
void setInput(const WeftContext &context, const WeftProgram &program,
              const char *name, double value);

/// Inputs that come from the data: all that the runtime does not fill itself
/// (loss_seed, accumulate, rng, rank).
std::vector<WeftPort> dataInputs(const WeftProgram &program);

/// Runs a program, which learns its rank if it asks for it; a failure of a
/// command becomes an Error.
Status runChecked(WeftContext &context, const WeftProgram &program);
/// Its two halves, for a device that runs ahead of the host: finishChecked() is
/// of the oldest run that was started, which was one of `program`.
Status startChecked(WeftContext &context, const WeftProgram &program);
Status finishChecked(WeftContext &context, const WeftProgram &program);

//===- Bytes of the arena -------------------------------------------------===//

// Reads and writes ranges of a context's arena from the host: in place where it
// can be seen, else in pieces that are copied, so that a file larger than the
// memory of the host can be saved and loaded.

/// Calls `use` on the bytes [offset, offset + bytes) in order, on all of them
/// at once or on pieces of whole 8 bytes. Stops at the first error.
Status
readArena(const WeftContext &context, int64_t offset, int64_t bytes,
          const std::function<Status(const char *data, int64_t bytes)> &use);

/// Calls `fill` to write the bytes [at, at + bytes) of the range to `out`, for
/// the whole range or for pieces of it in order. Stops at the first error; what
/// was filled before stays.
Status writeArena(
    const WeftContext &context, int64_t offset, int64_t bytes,
    const std::function<Status(char *out, int64_t at, int64_t bytes)> &fill);

/// A range of the arena as the host can read it: in place, or a copy.
class ArenaView {
public:
  static Expected<ArenaView> of(const WeftContext &context, int64_t offset,
                                int64_t bytes);
  const char *data() const { return place ? place : copy.data(); }

private:
  const char *place = nullptr;
  std::vector<char> copy;
};

/// The number of that type (WeftDType) at an offset.
Expected<double> loadArenaNumber(const WeftContext &context, int64_t offset,
                                 int32_t dtype);

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_PORTS_H
