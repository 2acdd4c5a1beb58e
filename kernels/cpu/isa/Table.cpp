//===- Table.cpp - The loops of one instruction set -----------------------===//

#include "AttentionTiles.h"
#include "CrossEntropyRows.h"
#include "ElementLoops.h"

namespace weft {
namespace WEFT_ISA {

const Loops loops = {widen,
                     narrow,
                     attentionForward,
                     attentionBackward,
                     attentionWriteKeys,
                     logSumExp,
                     crossEntropyRow,
                     crossEntropyGradRow,
                     adam,
                     sgd,
                     accumulate,
                     addRows,
                     addWide,
                     normBlock,
                     normals,
                     uniforms,
                     dropout};

} // namespace WEFT_ISA
} // namespace weft
