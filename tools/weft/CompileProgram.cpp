//===- CompileProgram.cpp - A loaded model as an executable ---------------===//

#include "CompileProgram.h"

#include "weft/Pipeline/Link.h"
#include "weft/Pipeline/Target.h"

using namespace weft;

Expected<std::string> weft::compileProgram(Compiler &compiler) {
  if (Status status = compiler.run(compiler.phases().findLast(Level::Llvm));
      !status)
    return status.takeError();
  Expected<Objects> objects = compiler.programObjects();
  if (!objects)
    return objects.takeError();
  return linkProgram(Linkage::of(compiler.target(), compiler.flags()),
                     *objects);
}
