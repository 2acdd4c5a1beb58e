//===- Table.cpp - The loops of one instruction set -----------------------===//

#include "AttentionTiles.h"
#include "ElementLoops.h"

namespace weft {
namespace WEFT_ISA {

const Loops loops = {
    widen,   narrow, attentionForward, attentionBackward, attentionWriteKeys,
    addRows, addWide};

} // namespace WEFT_ISA
} // namespace weft
