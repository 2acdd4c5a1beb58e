//===- Dependences.h - Dependences between commands -------------*- C++ -*-===//

#ifndef WEFT_LIB_SCHEDULE_DEPENDENCES_H
#define WEFT_LIB_SCHEDULE_DEPENDENCES_H

#include "weft/Plan/Plan.h"

namespace weft {

/// Dependences between commands of one program, by position. Two commands that
/// use one root buffer, one of them writing, stay in order. Roots share no
/// bytes before weft-plan-memory. Transitive dependences are left out.
class Dependences {
public:
  explicit Dependences(llvm::ArrayRef<plan::CommandOpInterface> commands);

  /// Earlier commands that must come before command `index`, and later ones
  /// that must come after it.
  llvm::ArrayRef<unsigned> before(unsigned index) const { return needs[index]; }
  llvm::ArrayRef<unsigned> after(unsigned index) const {
    return neededBy[index];
  }

private:
  std::vector<llvm::SmallVector<unsigned, 4>> needs, neededBy;
};

/// The scope of a command. If it has none: the scope of the nearest command
/// with a scope among its dependences, or "".
llvm::StringRef findScope(unsigned index,
                          llvm::ArrayRef<plan::CommandOpInterface> commands,
                          const Dependences &dependences);

} // namespace weft

#endif // WEFT_LIB_SCHEDULE_DEPENDENCES_H
