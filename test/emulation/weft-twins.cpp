//===- weft-twins.cpp - Kernels of a model for the emulated device --------===//
//
// Compiles a model as `weft compile` does with the same flags, and writes the
// twins of its kernels: code of this machine that the emulated driver runs in
// place of the kernels' machine code.
//
//===----------------------------------------------------------------------===//

#include "EmitTwins.h"

#include "weft/Base/OutputFile.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Pipeline/Driver/Compiler.h"
#include "weft/Pipeline/Driver/MemoryFit.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Support/ToolMain.h"

#include "mlir/Pass/PassManager.h"

using namespace weft;

static FlagTable getFlags() {
  FlagTable table = compilerFlagTable();
  table.add({{"checked", FlagKind::Switch, DriverFlag, "", "",
              "twins that report their accesses to memory"},
             helpFlag(DriverFlag)});
  return table;
}

static Status checkUse(const FlagValues &flags) {
  for (const char *flag : {"emit", "to", "print-pipeline"})
    if (flags.isSet(flag))
      return usageError("weft-twins does not take --" + std::string(flag));
  if (flags.positionals().empty())
    return usageError("expects a MODEL").hint("weft-twins --help");
  if (!flags.isSet("output"))
    return usageError("expects -o FILE").hint("weft-twins --help");
  return checkReplaced(flags.files(FlagFile::Written),
                       flags.getSwitch("overwrite"));
}

/// The device of --target. Twins name one file of machine code, so there must
/// be exactly one device.
static Expected<CudaTarget> findDevice(const FlagValues &flags) {
  const std::string &target = flags.getText("target");
  std::string error;
  auto devices = parseCudaTargets(target, error);
  if (llvm::failed(devices) || devices->size() != 1)
    return usageError("expects one CUDA device as --target, but got " + target)
        .hint("such as --target=cuda:sm_90");
  return devices->front();
}

/// An object of the twins.
static Expected<std::vector<char>> compileTwins(const FlagValues &flags) {
  // The compiler applies the options of MLIR's pass manager, which must exist.
  mlir::registerPassManagerCLOptions();
  Compiler compiler;
  // With the default of --emit, a thread would compile the kernels for an
  // executable.
  if (Status status =
          compiler.load(flags.positionals().front(),
                        flags.without("checked").with("emit", "ptx"));
      !status)
    return status.takeError();
  Expected<CudaTarget> device = findDevice(compiler.flags());
  if (!device)
    return device.takeError();
  const int last = compiler.phases().findLast(Level::Llvm);
  if (Status status = runWithinMemory(compiler, last); !status)
    return status.takeError();
  auto object =
      emitTwins(compiler.module(), *device, flags.getSwitch("checked"));
  if (llvm::failed(object))
    return compiler.takeError("emit");
  return std::move(*object);
}

/// The emulated driver resolves what twins call besides libm.
static Status writeTwins(const FlagValues &flags) {
  if (Status status = checkUse(flags); !status)
    return status;
  Expected<std::vector<char>> object = compileTwins(flags);
  if (!object)
    return object.takeError();
  Expected<std::string> library =
      linkObjects({*object}, {"-shared", "-lm"}, /*hint=*/"");
  if (!library)
    return library.takeError();
  return writeFile(flags.getString("output"), *library, FileMode::Executable);
}

static int run(int argc, char **argv) {
  FlagTable table = getFlags();
  FlagParseOptions options;
  options.program = "weft-twins";
  options.maxPositionals = 1;
  Expected<FlagValues> flags = table.parse({argv + 1, argv + argc}, options);
  if (!flags)
    return flags.error().report();
  if (flags->getSwitch("help")) {
    printText("usage: weft-twins MODEL -o FILE [--checked] [FLAGS]\n\n"
              "FLAGS: those of weft compile but --emit, --to and "
              "--print-pipeline\n"
              "--checked: twins report their accesses to memory\n");
    return 0;
  }
  Status status = writeTwins(*flags);
  return status ? 0 : status.error().report();
}

int main(int argc, char **argv) {
  return runTool([&] { return run(argc, argv); });
}
