//===- MicroPrograms.cpp - Which program is which micro-step --------------===//

#include "weft/Runtime/Run/MicroPrograms.h"

#include "weft/Formats/MicroSteps.h"
#include "weft/Formats/Names.h"

#include <algorithm>

using namespace weft;

MicroPrograms::MicroPrograms(const WeftExecutable &executable)
    : only(findProgram(executable, names::kMicro)), first(only), middle(only),
      last(only) {
  if (const WeftProgram *later = findProgram(executable, names::kMicroLater))
    middle = last = later;
  if (const WeftProgram *keeps = findProgram(executable, names::kMicroKeep))
    first = middle = keeps;
  if (const WeftProgram *keeps =
          findProgram(executable, names::kMicroLaterKeep))
    middle = keeps;
}

const WeftProgram &MicroPrograms::get(int64_t number, int64_t count) const {
  if (count == 1)
    return *only;
  if (number == 0)
    return *first;
  return number == count - 1 ? *last : *middle;
}

std::vector<const WeftProgram *> MicroPrograms::list(int64_t count) const {
  std::vector<const WeftProgram *> programs;
  for (int64_t number : {int64_t(0), int64_t(1), count - 1})
    if (number < count)
      if (const WeftProgram *program = &get(number, count);
          std::find(programs.begin(), programs.end(), program) ==
          programs.end())
        programs.push_back(program);
  return programs;
}
