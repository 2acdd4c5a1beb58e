//===- Fill.cpp - Constants -----------------------------------------------===//

#include "Arguments.h"
#include "Dispatch.h"

#include "weft/Runtime/Execute/DTypes.h"

#include <algorithm>

namespace weft {
namespace {

void failType(WeftContext &context, const WeftCommand &command, int64_t dtype) {
  failCommand(context, command, kInternalError,
              "expects dtype f32, f64, f16, bf16, i1, i32 or i64, but got " +
                  std::to_string(dtype));
}

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_fill(WeftContext *context, const WeftCommand *command,
                              void *const *buffers) {
  const auto *record = recordOf<WEFT_FILL>(*context, *command);
  if (!record || !checkBuffers(*context, *command, 1) ||
      !checkRange(*context, *command, "elements", record->elements, 0))
    return;
  bool known = withElement(record->dtype, [&](auto element) {
    auto value = element.make(record->value);
    auto *to = as<decltype(value)>(buffers[0]);
    context->parallelFor(record->elements, kElementGrain, [&](RangePart part) {
      std::fill(to + part.begin, to + part.end, value);
    });
  });
  if (!known)
    failType(*context, *command, record->dtype);
}

extern "C" void weft_cpu_constant(WeftContext *context,
                                  const WeftCommand *command,
                                  void *const *buffers) {
  const auto *record = recordOf<WEFT_CONSTANT>(*context, *command);
  if (!record || !checkBuffers(*context, *command, 1))
    return;
  const char *from = entriesOf<char>(*record);
  char *to = as<char>(buffers[0]);
  context->parallelFor(record->count, kElementGrain, [&](RangePart part) {
    std::copy(from + part.begin, from + part.end, to + part.begin);
  });
}
