//===- MicroPrograms.cpp - Which program is which micro-step --------------===//

#include "weft/Runtime/Run/MicroPrograms.h"

#include "weft/Abi/MicroSteps.h"
#include "weft/Abi/Names.h"

#include <algorithm>

using namespace weft;

static auto hasProgram(const WeftExecutable &executable) {
  return [&](const char *name) { return findProgram(executable, name); };
}

MicroPrograms::MicroPrograms(const WeftExecutable &executable) {
  auto choose = [&](int64_t number, int64_t count) {
    return findProgram(
        executable, names::chooseMicro(number, count, hasProgram(executable)));
  };
  only = choose(0, 1);
  first = choose(0, 2);
  middle = choose(1, 3);
  last = choose(1, 2);
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

std::vector<const WeftProgram *>
DenominatorPrograms::list(int64_t count) const {
  if (!exist())
    return {};
  if (count == 1 || keep == last)
    return {last};
  return {keep, last};
}

DenominatorPrograms::DenominatorPrograms(const WeftExecutable &executable) {
  auto choose = [&](int64_t number, int64_t count) {
    return findProgram(executable, names::chooseDenominators(
                                       number, count, hasProgram(executable)));
  };
  last = choose(0, 1);
  keep = choose(0, 2);
}
