//===- CompileFiles.cpp - Inputs and outputs of weft compile --------------===//

#include "CompileFiles.h"

#include "weft/Base/OutputFolder.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Frontend/Frontend.h"
#include "weft/Pipeline/Driver/Link.h"
#include "weft/Pipeline/Driver/MemoryFit.h"
#include "weft/Pipeline/Targets/Target.h"

#include <algorithm>
#include <filesystem>

using namespace weft;
namespace fs = std::filesystem;

std::string weft::outputName(const FlagValues &flags,
                             const std::string &model) {
  if (flags.isSet("output"))
    return flags.getString("output");
  std::error_code error;
  fs::path path = fs::absolute(model, error).lexically_normal();
  if (path.filename().empty() || path.filename() == "config.json")
    path = path.parent_path();
  return path.stem().string() + (flags.getText("emit") == "obj" ? ".o" : "");
}

/// Every file that is written, by the flag behind it.
static std::vector<FileUse> outputFiles(const FlagValues &flags,
                                        const std::string &model,
                                        const PhaseTable &phases, int last) {
  std::vector<FileUse> outputs = flags.files(FlagFile::Written);
  const std::string &emit = flags.getText("emit");
  bool isText = flags.isSet("to") || (emit != "obj" && emit != "exe");
  if (isText)
    outputs.erase(std::remove_if(outputs.begin(), outputs.end(),
                                 [](const FileUse &output) {
                                   return output.role == "--output" &&
                                          output.path == kStandardOutput;
                                 }),
                  outputs.end());
  if (!isText && !flags.isSet("output"))
    outputs.push_back({"the program", outputName(flags, model)});
  if (!flags.isSet("dump-dir"))
    return outputs;
  int first =
      flags.isSet("from") ? phases.find(flags.getString("from")) + 1 : 0;
  for (int i = first; i <= last; ++i)
    outputs.push_back({"--dump-dir", flags.getString("dump-dir") + "/" +
                                         phases.dumpFileName(i)});
  return outputs;
}

static Status checkOutputs(const FlagValues &flags,
                           const std::vector<FileUse> &outputs,
                           const std::vector<FileUse> &inputs) {
  if (Status status = checkFolderName("--dump-dir", flags.getText("dump-dir"));
      !status)
    return status;
  if (Status status = checkOutputPaths(outputs, inputs, manifestName); !status)
    return status;
  return checkReplaced(outputs, flags.getSwitch("overwrite"));
}

Expected<std::vector<FileUse>> weft::compileInputs(const FlagValues &flags,
                                                   const std::string &model) {
  Expected<std::shared_ptr<const Target>> target = findTarget(flags);
  if (!target)
    return target.takeError();
  Expected<std::vector<std::string>> toolchain =
      toolchainFiles(Linkage::of(**target, flags));
  if (!toolchain)
    return toolchain.takeError();
  std::vector<FileUse> inputs = flags.files(FlagFile::Read);
  for (const std::string &file : modelFiles(model))
    inputs.push_back({"the model", file});
  for (const std::string &file : *toolchain)
    inputs.push_back({"the compiler", file});
  return inputs;
}

Status weft::checkCompileFiles(const FlagValues &flags,
                               const std::string &model,
                               const PhaseTable &phases, int last) {
  std::error_code error;
  if (!std::filesystem::exists(model, error)) // the import says so
    return Status::success();
  Expected<std::vector<FileUse>> inputs = compileInputs(flags, model);
  if (!inputs)
    return inputs.takeError();
  return checkOutputs(flags, outputFiles(flags, model, phases, last), *inputs);
}

Status weft::checkRecordedWeights(Compiler &compiler, const std::string &model,
                                  int last) {
  auto list = compiler.module()->getAttrOfType<mlir::ArrayAttr>("weft.weights");
  std::vector<FileUse> inputs;
  for (mlir::Attribute file :
       list ? list.getValue() : llvm::ArrayRef<mlir::Attribute>())
    if (auto entry = llvm::dyn_cast<mlir::DictionaryAttr>(file))
      if (auto path = entry.getAs<mlir::StringAttr>("path"))
        inputs.push_back({"the initial weights", path.str()});
  return checkOutputs(
      compiler.flags(),
      outputFiles(compiler.flags(), model, compiler.phases(), last), inputs);
}

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
