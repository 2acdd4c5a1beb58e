//===- DebugTable.cpp - The command table of --debug-nan ------------------===//

#include "DescribeTraining.h"

#include "weft/Plan/Plan.h"
#include "weft/Support/TypeText.h"
#include "weft/Weft/Weft.h"

#include "llvm/Support/Path.h"

using namespace mlir;
using namespace weft;

/// Lists of source locations and ops are truncated to this length.
static constexpr size_t kMostListed = 6;

namespace {
/// Texts in their order, each once.
class TextList {
public:
  void add(const std::string &text) {
    if (!llvm::is_contained(texts, text))
      texts.push_back(text);
  }
  std::string join() const {
    std::string all;
    for (const std::string &text : ArrayRef(texts).take_front(kMostListed))
      all += (all.empty() ? "" : ", ") + text;
    return texts.size() > kMostListed ? all + ", ..." : all;
  }

private:
  SmallVector<std::string> texts;
};
} // namespace

/// "model.mlir:12, model.mlir:14", without folders: an executable contains no
/// paths.
static std::string placeOf(Location location) {
  TextList places;
  location->walk([&](Location part) {
    if (auto file = dyn_cast<FileLineColLoc>(part)) {
      std::string place = llvm::sys::path::filename(file.getFilename()).str();
      if (file.getLine() > 0)
        place += ":" + std::to_string(file.getLine());
      places.add(place);
    }
    return WalkResult::advance();
  });
  return places.join();
}

/// The kernels that a command runs: several if it launches a group.
static SmallVector<KernelOp> kernelsOf(plan::CommandOpInterface command,
                                       const SymbolTable &symbols) {
  Operation *symbol = symbols.lookup(command.getCommandName());
  if (auto kernel = dyn_cast_or_null<KernelOp>(symbol))
    return {kernel};
  SmallVector<KernelOp> kernels;
  if (auto group = dyn_cast_or_null<KernelGroupOp>(symbol))
    for (auto name : group.getKernels().getAsRange<FlatSymbolRefAttr>())
      if (auto kernel = symbols.lookup<KernelOp>(name.getAttr()))
        kernels.push_back(kernel);
  return kernels;
}

/// The names of the ops in a fused kernel. An op that was expanded to its
/// formula keeps its own name (weft.computes).
static void addOps(KernelOp kernel, TextList &names) {
  if (auto list =
          kernel->getAttrOfType<ArrayAttr>(WeftDialect::kComputesAttr)) {
    for (StringAttr name : list.getAsRange<StringAttr>())
      names.add(name.str());
    return;
  }
  for (Operation &op : kernel.getBody().front().without_terminator())
    names.add(op.getName().stripDialect().str());
}

static std::string opsOf(plan::CommandOpInterface command,
                         const SymbolTable &symbols) {
  TextList names;
  for (KernelOp kernel : kernelsOf(command, symbols))
    addOps(kernel, names);
  return names.join();
}

/// Whether a fused kernel contains a constant that is not finite. No op is to
/// blame for non-finite values computed from it.
static bool holdsInfinity(plan::CommandOpInterface command,
                          const SymbolTable &symbols) {
  auto isInfinite = [](ConstantOp op) {
    auto values = dyn_cast<DenseFPElementsAttr>(op.getValue());
    return values &&
           llvm::any_of(values.getValues<APFloat>(),
                        [](const APFloat &v) { return !v.isFinite(); });
  };
  return llvm::any_of(kernelsOf(command, symbols), [&](KernelOp kernel) {
    return llvm::any_of(kernel.getBody().getOps<ConstantOp>(), isInfinite);
  });
}

/// The name of a buffer for users: its state or its output, or "".
static std::string nameOf(Value buffer) {
  Value root = plan::getRoot(buffer);
  if (auto use = root.getDefiningOp<plan::UseOp>())
    return use.getState().str();
  for (Operation *user : buffer.getUsers())
    if (auto output = dyn_cast<plan::OutputOp>(user))
      return output.getName().str();
  return "";
}

static Json intList(ArrayRef<int64_t> values) {
  return Json::arrayOf(std::vector<int64_t>(values.begin(), values.end()));
}

static void pushLayout(Json &row, Value buffer) {
  plan::Layout layout = plan::Layout::get(cast<MemRefType>(buffer.getType()));
  row.push(intList(layout.sizes));
  row.push(intList(layout.strides));
}

/// The buffers from which a written one is computed element by element: inputs
/// that the kernel may update in place, and the source of a copy.
static Json sourcesOf(plan::CommandOpInterface command, unsigned written,
                      const SymbolTable &symbols) {
  if (isa<plan::CopyOp>(*command))
    return intList({0});
  auto launch = dyn_cast<plan::LaunchOp>(*command);
  auto kernel = dyn_cast_or_null<KernelOpInterface>(
      symbols.lookup(command.getCommandName()));
  if (!launch || !kernel)
    return intList({});
  const auto inputs = static_cast<unsigned>(launch.getInputs().size());
  return intList(kernel.getInPlaceInputs(written - inputs));
}

/// [buffer, dtype, name, dims, strides, sources] of every buffer but the
/// workspace.
static Json writesOf(plan::CommandOpInterface command,
                     const SymbolTable &symbols) {
  Json writes = Json::array();
  for (auto [index, access] : llvm::enumerate(command.getAccesses())) {
    Value buffer = access.buffer;
    if (plan::isWorkspace(buffer) || !access.isWritten)
      continue;
    Json row = Json::array();
    row.push(int64_t(index));
    row.push(getTypeText(getElementTypeOrSelf(buffer.getType())));
    row.push(nameOf(buffer));
    pushLayout(row, buffer);
    row.push(sourcesOf(command, index, symbols));
    writes.push(std::move(row));
  }
  return writes;
}

/// [buffer, dtype, dims, strides]
static Json readsOf(plan::CommandOpInterface command) {
  Json reads = Json::array();
  for (auto [index, access] : llvm::enumerate(command.getAccesses())) {
    if (!access.isRead)
      continue;
    Json row = Json::array();
    row.push(int64_t(index));
    row.push(getTypeText(getElementTypeOrSelf(access.buffer.getType())));
    pushLayout(row, access.buffer);
    reads.push(std::move(row));
  }
  return reads;
}

Json weft::debugTable(ModuleOp module) {
  SymbolTable symbols(module);
  Json programs = Json::object();
  for (auto program : module.getOps<plan::ProgramOp>()) {
    Json commands = Json::array();
    for (Operation &op : program.getBody().front())
      if (auto command = dyn_cast<plan::CommandOpInterface>(&op)) {
        Json row = Json::object();
        row.set("at", placeOf(op.getLoc()));
        row.set("ops", opsOf(command, symbols));
        row.set("infinite", holdsInfinity(command, symbols));
        row.set("reads", readsOf(command));
        row.set("writes", writesOf(command, symbols));
        commands.push(std::move(row));
      }
    programs.set(program.getSymName().str(), std::move(commands));
  }
  return programs;
}
