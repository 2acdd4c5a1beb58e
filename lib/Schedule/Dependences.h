//===- Dependences.h - Which commands of a program need their order -------===//

#ifndef WEFT_LIB_SCHEDULE_DEPENDENCES_H
#define WEFT_LIB_SCHEDULE_DEPENDENCES_H

#include "weft/Plan/Plan.h"

namespace weft {

/// Of commands of one program, by their places in it: two that use one root
/// buffer, one of them writing, stay in their order. Roots do not share bytes
/// before weft-plan-memory; what follows from others is left out.
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

/// The scope of a command or, if it has none, of the nearest one that has one
/// among those that it needs; "" if none has.
llvm::StringRef findScope(unsigned index,
                          llvm::ArrayRef<plan::CommandOpInterface> commands,
                          const Dependences &dependences);

} // namespace weft

#endif // WEFT_LIB_SCHEDULE_DEPENDENCES_H
