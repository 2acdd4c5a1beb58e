//===- Weights.cpp - Initial weights beside a configuration ---------------===//

#include "ConfigFields.h"
#include "LoadModel.h"

#include "weft/Formats/ModelWeights.h"
#include "weft/Formats/WeightFiles.h"
#include "weft/Frontend/Frontend.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <set>

using namespace mlir;
using namespace weft;

namespace {
/// Tensors that are wrong in the same respect.
struct Mismatches {
  std::string file, first; // the path and the message of the first
  size_t count = 0;

  void add(const std::string &path, std::string text) {
    if (count++ == 0) {
      file = path;
      first = std::move(text);
    }
  }
};

/// Compares the tensors of a file with the parameters of a module.
class WeightCheck {
public:
  WeightCheck(const ModelWeights &weights, llvm::StringRef optionalRoot,
              MLIRContext &context)
      : weights(weights), optionalRoot(optionalRoot), context(context) {}

  void checkParam(ParamOp param);
  /// Reports an error for each cause, not for each tensor.
  LogicalResult finish();

private:
  using Entry = ModelWeights::Entry;

  /// The name of a tensor without the wrappers of its model.
  llvm::StringRef nameOf(const TensorInfo &info) const {
    return llvm::StringRef(info.name).drop_front(weights.wrappers().size());
  }
  /// The tensor of a parameter; with or without the optional prefix.
  const Entry *find(llvm::StringRef name);
  void checkTensor(ParamOp param, const Entry &entry);
  void checkTied(ParamOp param, const Entry &entry);
  void findExtra();
  bool reportPrefix();
  void reportNames();
  void report(const Mismatches &found);
  InFlightDiagnostic error(const std::string &file) {
    failedFlag = true;
    return emitError(fileLocation(context, file, 0));
  }

  const ModelWeights &weights;
  llvm::StringRef optionalRoot;
  MLIRContext &context;
  std::set<std::string> used;
  std::vector<std::string> missing; // names of parameters
  std::vector<const Entry *> extra; // tensors of no parameter
  Mismatches types, shapes;
  bool failedFlag = false;
};
} // namespace

const ModelWeights::Entry *WeightCheck::find(llvm::StringRef name) {
  if (const Entry *entry = weights.find(name.str()))
    return entry;
  llvm::StringRef prefix = optionalRoot;
  if (!prefix.empty() && name.consume_front(prefix))
    return weights.find(name.str());
  return nullptr;
}

void WeightCheck::checkParam(ParamOp param) {
  const Entry *entry = find(param.getSymName());
  if (entry)
    used.insert(nameOf(*entry->info).str());
  if (param.getTie()) {
    if (entry)
      checkTied(param, *entry);
    return;
  }
  if (!entry) {
    missing.push_back(param.getSymName().str());
    return;
  }
  checkTensor(param, *entry);
}

void WeightCheck::checkTensor(ParamOp param, const Entry &entry) {
  const TensorInfo &info = *entry.info;
  const std::string name = printable(info.name, 200);
  if (info.type != weft::TensorType::F32 &&
      info.type != weft::TensorType::F16 &&
      info.type != weft::TensorType::BF16) {
    types.add(entry.file->path(),
              "tensor '" + name + "': expects type F32, F16 or BF16, but got " +
                  tensorTypeName(info.type));
    return;
  }
  ArrayRef<int64_t> shape = param.getTensorType().getShape();
  if (shape != ArrayRef<int64_t>(info.shape)) {
    shapes.add(entry.file->path(),
               "tensor '" + name + "': expects shape " +
                   shapeText(std::vector<int64_t>(shape.begin(), shape.end())) +
                   ", but got " + shapeText(info.shape));
    return;
  }
  if (nameOf(info) != param.getSymName())
    param.setSource(nameOf(info));
}

/// Of the bytes of a tensor.
static Expected<std::string> digestTensor(const ModelWeights::Entry &entry) {
  std::vector<char> piece(1 << 20);
  Digest digest;
  for (int64_t at = 0, size = entry.info->bytes(); at < size;) {
    const int64_t part = std::min<int64_t>(piece.size(), size - at);
    if (Status status = entry.file->read(*entry.info, at, part, piece.data());
        !status)
      return status.takeError();
    digest.update(piece.data(), part);
    at += part;
  }
  return digest.value128();
}

/// A tied parameter takes the values of its target, whatever is stored for it.
void WeightCheck::checkTied(ParamOp param, const Entry &entry) {
  const Entry *target = find(*param.getTie());
  if (!target || target->info->type != entry.info->type ||
      target->info->bytes() != entry.info->bytes())
    return;
  Expected<std::string> own = digestTensor(entry);
  Expected<std::string> other = digestTensor(*target);
  if (!own || !other) {
    failedFlag = true;
    (void)weft::report(context, own ? other.error() : own.error());
    return;
  }
  if (*own != *other)
    emitWarning(fileLocation(context, entry.file->path(), 0))
        << "tensor '" << entry.info->name << "' differs from '"
        << target->info->name
        << "', to which the configuration ties it, and is not used";
}

void WeightCheck::findExtra() {
  for (const auto &[name, entry] : weights.tensors())
    if (!used.count(name) && !isModelBuffer(name))
      extra.push_back(&entry);
}

/// " and 27 others", or nothing.
static std::string andOthers(size_t count) {
  if (count < 2)
    return "";
  return count == 2 ? " and another"
                    : " and " + std::to_string(count - 1) + " others";
}

/// The front of the first of `names` that ends with `name`.
static std::optional<std::string>
findPrefix(llvm::StringRef name, llvm::ArrayRef<std::string> names) {
  for (llvm::StringRef longer : names)
    if (longer.size() > name.size() && longer.ends_with("." + name.str()))
      return longer.drop_back(name.size()).str();
  return std::nullopt;
}

/// Whether `longer` are the names `shorter` behind `prefix`.
static bool areBehind(const std::string &prefix,
                      llvm::ArrayRef<std::string> shorter,
                      llvm::ArrayRef<std::string> longer) {
  std::set<std::string> names(longer.begin(), longer.end());
  return llvm::all_of(shorter, [&](const std::string &name) {
    return names.count(prefix + name);
  });
}

/// `names` without `prefix`; nothing unless all begin with it.
static std::vector<std::string> dropPrefix(llvm::StringRef prefix,
                                           llvm::ArrayRef<std::string> names) {
  std::vector<std::string> shorter;
  for (llvm::StringRef name : names)
    if (name.consume_front(prefix))
      shorter.push_back(name.str());
  if (shorter.size() != names.size())
    shorter.clear();
  return shorter;
}

/// Whether all missing tensors are there, with one module path too many or too
/// few.
bool WeightCheck::reportPrefix() {
  std::vector<std::string> stored;
  for (const Entry *entry : extra)
    stored.push_back(entry->info->name);
  if (missing.size() < 2 || stored.size() < missing.size())
    return false;
  auto explain = [&](const std::string &rest) {
    error(weights.path()) << "expects a tensor '" << missing.front()
                          << "', but it and " << missing.size() - 1
                          << " others have names " << rest;
    return true;
  };
  for (const auto &names : {missing, dropPrefix(optionalRoot, missing)})
    if (auto prefix =
            names.empty() ? std::nullopt : findPrefix(names.front(), stored);
        prefix && areBehind(*prefix, names, stored))
      return explain("that begin with '" + printable(*prefix, 80) + "'");
  for (const std::string &name : stored)
    if (auto prefix = findPrefix(name, missing.front()))
      if (auto names = dropPrefix(*prefix, missing);
          !names.empty() && areBehind("", names, stored))
        return explain("without '" + *prefix + "'");
  return false;
}

void WeightCheck::reportNames() {
  if (missing.size() == 1)
    error(weights.path()) << "expects a tensor '" << missing.front()
                          << "', but there is none";
  if (missing.size() > 1)
    error(weights.path()) << "expects a tensor '" << missing.front() << "'"
                          << andOthers(missing.size())
                          << ", but there are none";
  if (!extra.empty())
    error(extra.front()->file->path())
        << "expects only tensors of the model, but got '"
        << printable(extra.front()->info->name, 200) << "'"
        << andOthers(extra.size());
}

void WeightCheck::report(const Mismatches &found) {
  if (found.count == 1)
    error(found.file) << found.first;
  if (found.count > 1)
    error(found.file) << found.first << ", and "
                      << (found.count == 2
                              ? "another is"
                              : std::to_string(found.count - 1) + " others are")
                      << " wrong, too";
}

LogicalResult WeightCheck::finish() {
  findExtra();
  if (!reportPrefix())
    reportNames();
  report(types);
  report(shapes);
  return failure(failedFlag);
}

static Attribute describeFile(const std::string &path, const FileDigest &digest,
                              Builder &b) {
  llvm::StringRef name = llvm::sys::path::filename(path);
  return b.getDictionaryAttr(
      {b.getNamedAttr("path", b.getStringAttr(path)),
       b.getNamedAttr("name", b.getStringAttr(name)),
       b.getNamedAttr("bytes", b.getI64IntegerAttr(digest.bytes)),
       b.getNamedAttr("xxh3", b.getStringAttr(digest.xxh3))});
}

/// {path, name, bytes, xxh3} per file.
static FailureOr<ArrayAttr> describeFiles(ModelWeights &weights, Builder &b) {
  SmallVector<Attribute> files;
  for (auto [i, path] : llvm::enumerate(weights.paths())) {
    Expected<FileDigest> digest = weights.digest(i);
    if (!digest)
      return report(*b.getContext(), digest.error());
    files.push_back(describeFile(path, *digest, b));
  }
  return b.getArrayAttr(files);
}

/// Weights that are not read are no reason to draw others: the program asks.
static LogicalResult recordUnread(ModuleOp module, const std::string &place) {
  MLIRContext &context = *module.getContext();
  Expected<std::vector<std::string>> unread = findUnreadWeights(place);
  if (!unread)
    return report(context, unread.error());
  SmallVector<Attribute> paths;
  for (const std::string &path : *unread) {
    if (Status status = checkLink(path); !status)
      return report(context, status.error());
    paths.push_back(StringAttr::get(&context, path));
  }
  if (!paths.empty())
    module->setAttr("weft.unread_weights", ArrayAttr::get(&context, paths));
  return success();
}

/// An adapter changes weights that were read.
static void warnOfAdapters(const std::string &place, MLIRContext &context) {
  Expected<std::vector<std::string>> unread = findUnreadWeights(place);
  for (const std::string &path : unread ? *unread : std::vector<std::string>())
    if (isAdapter(path))
      emitWarning(fileLocation(context, path, 0))
          << "the adapter is not applied to the model's weights";
}

LogicalResult weft::recordCompanions(ModuleOp module,
                                     ArrayRef<std::string> paths) {
  Builder b(module.getContext());
  SmallVector<Attribute> files;
  for (const std::string &path : paths) {
    if (Status status = checkLink(path); !status)
      return report(*b.getContext(), status.error());
    Expected<FileDigest> digest = digestFile(path);
    if (!digest)
      return report(*b.getContext(), digest.error());
    files.push_back(describeFile(path, *digest, b));
  }
  if (!files.empty())
    module->setAttr("weft.companion_files", b.getArrayAttr(files));
  return success();
}

/// Records the files of `weights` after their tensors were compared with the
/// parameters.
static LogicalResult recordModel(ModuleOp module, llvm::StringRef optionalRoot,
                                 ModelWeights &weights) {
  MLIRContext &context = *module.getContext();
  if (const std::string &prefix = weights.dropWrappers(); !prefix.empty())
    emitRemark(fileLocation(context, weights.path(), 0))
        << "takes '" << prefix << "' off the names of all tensors";
  WeightCheck check(weights, optionalRoot, context);
  for (ParamOp param : module.getOps<ParamOp>())
    check.checkParam(param);
  if (failed(check.finish()))
    return failure();
  Builder b(&context);
  FailureOr<ArrayAttr> files = describeFiles(weights, b);
  if (failed(files))
    return failure();
  module->setAttr("weft.weights", *files);
  return success();
}

LogicalResult weft::recordWeights(ModuleOp module, llvm::StringRef optionalRoot,
                                  const std::string &folder) {
  MLIRContext &context = *module.getContext();
  const std::string place = folder.empty() ? "." : folder;
  for (const char *name :
       {"/model.safetensors", "/model.safetensors.index.json"})
    if (Status status = checkLink(place + name); !status)
      return report(context, status.error());
  if (!ModelWeights::existsIn(place))
    return recordUnread(module, place);
  Expected<ModelWeights> weights = ModelWeights::open(place);
  if (!weights)
    return report(context, weights.error());
  if (failed(recordModel(module, optionalRoot, *weights)))
    return failure();
  warnOfAdapters(place, context);
  return success();
}

LogicalResult weft::recordGgufWeights(ModuleOp module,
                                      llvm::StringRef optionalRoot,
                                      const std::string &path) {
  Expected<ModelWeights> weights = ModelWeights::open(path);
  if (!weights)
    return report(*module.getContext(), weights.error());
  return recordModel(module, optionalRoot, *weights);
}
