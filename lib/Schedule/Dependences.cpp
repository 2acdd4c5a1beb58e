//===- Dependences.cpp - Dependences between commands ---------------------===//

#include "AsyncProgram.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace weft;

namespace {
/// The last writer of a root, and its readers since then.
struct RootUses {
  std::optional<unsigned> writer;
  SmallVector<unsigned> readers; // since then
};
} // namespace

Dependences::Dependences(ArrayRef<plan::CommandOpInterface> commands)
    : needs(commands.size()), neededBy(commands.size()) {
  DenseMap<Value, RootUses> roots;
  for (unsigned index = 0; index < commands.size(); ++index) {
    plan::CommandOpInterface command = commands[index];
    llvm::SmallSetVector<unsigned, 8> found;
    llvm::SmallSetVector<Value, 8> read, written;
    for (auto [buffer, isRead, isWritten] : command.getAccesses()) {
      if (plan::isWorkspace(buffer))
        continue;
      Value root = plan::getRoot(buffer);
      (isWritten ? written : read).insert(root);
      if (std::optional<unsigned> writer = roots[root].writer)
        found.insert(*writer);
    }
    for (Value root : written) {
      RootUses &uses = roots[root];
      found.insert(uses.readers.begin(), uses.readers.end());
      uses = {index, {}};
    }
    for (Value root : read)
      if (!written.contains(root))
        roots[root].readers.push_back(index);
    needs[index].assign(found.begin(), found.end());
    for (unsigned other : found)
      neededBy[other].push_back(index);
  }
}

/// Gaps of a bucket and casts have no scope, but the commands that they depend
/// on do.
StringRef weft::findScope(unsigned index,
                          ArrayRef<plan::CommandOpInterface> commands,
                          const Dependences &dependences) {
  llvm::SmallSetVector<unsigned, 8> reached;
  reached.insert(index);
  for (size_t next = 0; next < reached.size(); ++next) {
    plan::CommandOpInterface command = commands[reached[next]];
    if (StringRef scope = command.getCommandScope(); !scope.empty())
      return scope;
    for (unsigned other : llvm::reverse(dependences.before(reached[next])))
      reached.insert(other);
  }
  return {};
}
