//===- Weights.cpp - Initial weights beside a configuration ---------------===//

#include "Weights.h"

#include "weft/Formats/Safetensors.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <set>

using namespace mlir;
using namespace weft;

namespace {
/// Compares the tensors of a file with the parameters of a module.
class WeightCheck {
public:
  WeightCheck(const SafetensorsModel &weights, const ModelFamily &family,
              MLIRContext &context)
      : weights(weights), family(family), context(context) {}

  void checkParam(ParamOp param);
  void checkExtra();
  bool succeeded() const { return !failedFlag; }

private:
  using Entry = SafetensorsModel::Entry;

  /// The name of a tensor without the wrappers of its model.
  llvm::StringRef nameOf(const TensorInfo &info) const {
    return llvm::StringRef(info.name).drop_front(weights.wrappers().size());
  }
  /// The tensor of a parameter; with or without the optional prefix.
  const Entry *find(llvm::StringRef name);
  void checkTensor(ParamOp param, const Entry &entry);
  void checkTied(ParamOp param, const Entry &entry);
  InFlightDiagnostic error(const std::string &file) {
    failedFlag = true;
    return emitError(fileLocation(context, file, 0));
  }

  const SafetensorsModel &weights;
  const ModelFamily &family;
  MLIRContext &context;
  std::set<std::string> used;
  bool failedFlag = false;
};
} // namespace

const SafetensorsModel::Entry *WeightCheck::find(llvm::StringRef name) {
  if (const Entry *entry = weights.find(name.str()))
    return entry;
  llvm::StringRef prefix = family.optionalPrefix();
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
    error(weights.path()) << "expects a tensor '" << param.getSymName()
                          << "', but there is none";
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
    error(entry.file->path())
        << "tensor '" << name << "': expects type F32, F16 or BF16, but got "
        << tensorTypeName(info.type);
    return;
  }
  ArrayRef<int64_t> shape = param.getTensorType().getShape();
  if (shape != ArrayRef<int64_t>(info.shape)) {
    error(entry.file->path())
        << "tensor '" << name << "': expects shape "
        << shapeText(std::vector<int64_t>(shape.begin(), shape.end()))
        << ", but got " << shapeText(info.shape);
    return;
  }
  if (nameOf(info) != param.getSymName())
    param.setSource(nameOf(info));
}

/// Of the bytes of a tensor.
static Expected<std::string>
digestTensor(const SafetensorsModel::Entry &entry) {
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
    (void)report(context, own ? other.error() : own.error());
    return;
  }
  if (*own != *other)
    emitWarning(fileLocation(context, entry.file->path(), 0))
        << "tensor '" << entry.info->name << "' differs from '"
        << target->info->name
        << "', to which the configuration ties it, and is not used";
}

void WeightCheck::checkExtra() {
  for (const auto &[name, entry] : weights.tensors())
    if (!used.count(name) && !family.isBuffer(name))
      error(entry.file->path())
          << "expects only tensors of the model, but got '"
          << printable(name, 200) << "'";
}

/// {path, name, bytes, xxh3} per file.
static FailureOr<ArrayAttr> describeFiles(SafetensorsModel &weights,
                                          Builder &b) {
  SmallVector<Attribute> files;
  for (auto [i, path] : llvm::enumerate(weights.paths())) {
    Expected<FileDigest> digest = weights.digest(i);
    if (!digest)
      return report(*b.getContext(), digest.error());
    files.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("path", b.getStringAttr(path)),
         b.getNamedAttr("name",
                        b.getStringAttr(llvm::sys::path::filename(path))),
         b.getNamedAttr("bytes", b.getI64IntegerAttr(digest->bytes)),
         b.getNamedAttr("xxh3", b.getStringAttr(digest->xxh3))}));
  }
  return b.getArrayAttr(files);
}

LogicalResult weft::recordWeights(ModuleOp module, const ModelFamily &family,
                                  const std::string &folder) {
  MLIRContext &context = *module.getContext();
  const std::string place = folder.empty() ? "." : folder;
  if (!SafetensorsModel::existsIn(place))
    return success();
  Expected<SafetensorsModel> weights = SafetensorsModel::open(place);
  if (!weights)
    return report(context, weights.error());
  if (const std::string &prefix = weights->dropWrappers(); !prefix.empty())
    emitRemark(fileLocation(context, weights->path(), 0))
        << "takes '" << prefix << "' off the names of all tensors";
  WeightCheck check(*weights, family, context);
  for (ParamOp param : module.getOps<ParamOp>())
    check.checkParam(param);
  check.checkExtra();
  if (!check.succeeded())
    return failure();
  Builder b(&context);
  FailureOr<ArrayAttr> files = describeFiles(*weights, b);
  if (failed(files))
    return failure();
  module->setAttr("weft.weights", *files);
  return success();
}
