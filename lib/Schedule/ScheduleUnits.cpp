//===- ScheduleUnits.cpp - Collectives that may move ----------------------===//

#include "ScheduleUnits.h"

#include "weft/Support/ModulePath.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace weft;

ScheduleUnits::ScheduleUnits(const AsyncProgram &program)
    : program(program), prefetched(program.getCommands().size()),
      follows(program.getCommands().size()) {
  findUnits();
  findFollowers();
}

/// Finds the commands that a gather needs. Fails if other commands need them or
/// if they include a collective.
bool ScheduleUnits::findPrefetched(unsigned gather,
                                   SmallVectorImpl<unsigned> &found) {
  const Dependences &dependences = program.getDependences();
  llvm::SmallSetVector<unsigned, 4> all;
  all.insert(gather);
  for (size_t next = 0; next < all.size(); ++next)
    for (unsigned other : dependences.before(all[next])) {
      if (plan::isCollective(program.getCommands()[other]) ||
          plan::isTransfer(program.getCommands()[other]))
        return false;
      all.insert(other);
    }
  for (unsigned command : ArrayRef(all.getArrayRef()).drop_front()) {
    found.push_back(command);
    for (unsigned user : dependences.after(command))
      if (!all.contains(user))
        return false;
  }
  llvm::sort(found);
  return true;
}

void ScheduleUnits::findUnits() {
  /// The first use and the gather.
  SmallVector<std::pair<unsigned, unsigned>> gathers;
  const Dependences &dependences = program.getDependences();
  for (unsigned i = 0; i < program.getCommands().size(); ++i) {
    SmallVector<unsigned> found;
    if (!program.isAsync(i) ||
        !isa<plan::AllGatherOp>(*program.getCommands()[i]) ||
        dependences.after(i).empty() || !findPrefetched(i, found))
      continue;
    gathers.push_back({dependences.after(i).front(), i});
    for (unsigned input : found)
      prefetched[input] = true;
    inputsOf[i] = std::move(found);
  }
  llvm::sort(gathers);
  for (auto [use, gather] : gathers) {
    plan::CommandOpInterface command = program.getCommands()[gather];
    StringRef block = getUnit(command.getCommandScope());
    // The second gather of a value, in the backward pass, starts another unit.
    auto isSame = [&](unsigned other) {
      plan::CommandOpInterface before = program.getCommands()[other];
      return before->getOperand(0) == command->getOperand(0);
    };
    if (units.empty() || units.back().block != block ||
        llvm::any_of(units.back().gathers, isSame))
      units.push_back({block.str(), {}});
    units.back().gathers.push_back(gather);
    unitOf[gather] = static_cast<unsigned>(units.size() - 1);
  }
  findBackward();
}

void ScheduleUnits::findBackward() {
  SmallPtrSet<Value, 16> sources;
  for (backward = 0; backward < units.size(); ++backward)
    for (unsigned gather : units[backward].gathers)
      if (!sources.insert(program.getCommands()[gather]->getOperand(0)).second)
        return;
}

void ScheduleUnits::findFollowers() {
  for (unsigned i = 0; i < program.getCommands().size(); ++i)
    for (unsigned other : program.getDependences().before(i))
      if (isReduction(other) || follows[other])
        follows[i] = true;
}

std::optional<unsigned> ScheduleUnits::findUnit(unsigned command) const {
  auto unit = unitOf.find(command);
  if (unit == unitOf.end())
    return std::nullopt;
  return unit->second;
}

ArrayRef<unsigned> ScheduleUnits::getPrefetched(unsigned gather) const {
  auto found = inputsOf.find(gather);
  return found == inputsOf.end() ? ArrayRef<unsigned>() : found->second;
}

std::string ScheduleUnits::getBlockOf(unsigned reduction) const {
  return getUnit(findScope(reduction, program.getCommands(),
                           program.getDependences()))
      .str();
}
