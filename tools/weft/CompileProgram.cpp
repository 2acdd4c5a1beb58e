//===- CompileProgram.cpp - A loaded model as an executable ---------------===//

#include "CompileProgram.h"

#include "weft/Pipeline/Driver/Link.h"
#include "weft/Pipeline/Driver/MemoryFit.h"
#include "weft/Pipeline/Targets/Target.h"

using namespace weft;

Expected<std::string> weft::compileProgram(Compiler &compiler) {
  if (Status status =
          runWithinMemory(compiler, compiler.phases().findLast(Level::Llvm));
      !status)
    return status.takeError();
  Expected<Objects> objects = compiler.programObjects();
  if (!objects)
    return objects.takeError();
  return linkProgram(Linkage::of(compiler.target(), compiler.flags()),
                     *objects);
}
