//===- CostTableFile.cpp - Rates of a machine from a file -----------------===//

#include "weft/Schedule/CostTableFile.h"

#include "CostTableReader.h"

#include "weft/Analysis/CostKinds.h"

#include "weft/Plan/Plan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace weft;

/// The table of links.
static constexpr StringLiteral kLinkKey = "link";

namespace {

/// Reads the tables of one file, each within the other.
class CostTableReader : TomlReader {
public:
  CostTableReader(MLIRContext *context, StringRef path, StringRef target)
      : TomlReader(context, path), target(target) {}

  /// The rates of `kind` on `element`, "" for all, and the tables inside.
  LogicalResult read(const toml::table &table, StringRef kind,
                     StringRef element);
  /// The format of the file, from its top level.
  LogicalResult readFormat(const toml::table &table);
  /// The rates of a file without a target may be of another one.
  LogicalResult checkTarget();

  CostTable costs;

private:
  LogicalResult readLink(const toml::table &table, StringRef axis);
  FailureOr<double> readSlowdown(StringRef name, const toml::node &value);
  LogicalResult readOverlap(StringRef name, const toml::node &value);
  LogicalResult readRate(StringRef name, const toml::node &value,
                         std::optional<double> &rate);
  LogicalResult refuse(StringRef name, const toml::node &value, StringRef kind,
                       StringRef element);
  LogicalResult readThreads(const toml::node &value);
  LogicalResult checkFormat(StringRef name, const toml::node &value,
                            StringRef kind, bool isTop);
  bool isCommand(StringRef name) const;
  /// A kind of generated kernels.
  bool isKernel(StringRef name) const {
    return !isCommand(name) && isKernelCostKind(name, context);
  }

  StringRef target; // of the program; "" if there is none
  int64_t format = 1;
  bool hasFormat = false;
};

} // namespace

static bool isElementType(StringRef name) {
  return StringSwitch<bool>(name)
      .Cases({"f64", "f32", "f16", "bf16", "i64", "i32", "i1"}, true)
      .Default(false);
}

bool CostTableReader::isCommand(StringRef name) const {
  std::string full =
      (plan::PlanDialect::getDialectNamespace() + "." + name).str();
  std::optional<RegisteredOperationName> op =
      RegisteredOperationName::lookup(full, context);
  return op && op->hasInterface<plan::CommandOpInterface>();
}

static bool isAttention(StringRef kind) {
  return kind == "attention" || kind == "attention_grad";
}

/// One that ranks send for: neither arithmetic nor a type enters its time.
static bool isCollectiveKind(StringRef name) {
  return StringSwitch<bool>(name)
      .Cases({"all_gather", "reduce_scatter", "all_reduce"}, true)
      .Default(false);
}

namespace {
/// A key of a rate, and the kinds of commands whose tables may have it.
struct RateKey {
  StringLiteral name;
  std::optional<double> CostTable::Part::*rate;
  bool (*isKeyOf)(StringRef kind);
};
} // namespace

static constexpr RateKey kRateKeys[] = {
    {"gflops", &CostTable::Part::gflops,
     [](StringRef kind) { return !isCollectiveKind(kind); }},
    {"gigabytes_per_second", &CostTable::Part::gigabytesPerSecond,
     [](StringRef) { return true; }},
    {"overhead_us", &CostTable::Part::overheadUs,
     [](StringRef) { return true; }},
    {kGigascoresKey, &CostTable::Part::gigascoresPerSecond, isAttention},
};

static const RateKey *findRateKey(StringRef kind, StringRef name) {
  const RateKey *found = llvm::find_if(kRateKeys, [&](const RateKey &key) {
    return key.name == name && key.isKeyOf(kind);
  });
  return found == std::end(kRateKeys) ? nullptr : found;
}

/// Whether the table of a kind on an element may have tables of elements.
static bool hasElements(StringRef kind, StringRef element) {
  return element.empty() && !isCollectiveKind(kind);
}

/// The keys of the table of a kind on an element: "gflops or overhead_us".
static std::string listKeys(StringRef kind, StringRef element) {
  const bool isTop = kind.empty() && element.empty();
  SmallVector<StringRef> keys;
  if (isTop)
    keys = {kFormatKey, kTargetKey, kThreadsKey};
  for (const RateKey &key : kRateKeys)
    if (key.isKeyOf(kind))
      keys.push_back(key.name);
  if (hasElements(kind, element))
    keys.push_back("an element type");
  if (isTop)
    keys.append({kLinkKey, "a kind of command or kernel"});
  return llvm::join(ArrayRef(keys).drop_back(), ", ") + " or " +
         keys.back().str();
}

static std::string toText(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

/// Beyond these no machine is, and times of them could not be added up.
static constexpr double kLeastRate = 1e-6, kMostRate = 1e12;

LogicalResult weft::readNumber(MLIRContext *context, StringRef path,
                               StringRef name, const toml::node &value,
                               double &number) {
  const bool mayBeZero = name.ends_with("_us");
  auto refuse = [&](const std::string &text) {
    return emitError(locateToml(context, path, value.source()))
           << "expects `" << name << "` to be " << (mayBeZero ? "0 or " : "")
           << "a number from 1e-6 to 1e12, but got " << text;
  };
  std::optional<double> read;
  if (!value.is_boolean())
    read = value.value<double>();
  if (!read)
    return refuse(describeToml(value));
  const bool isZero = mayBeZero && *read == 0;
  if (!isZero && !(*read >= kLeastRate && *read <= kMostRate))
    return refuse(toText(*read));
  number = *read;
  return success();
}

LogicalResult CostTableReader::readRate(StringRef name, const toml::node &value,
                                        std::optional<double> &rate) {
  double number = 0;
  if (failed(readNumber(context, path, name, value, number)))
    return failure();
  rate = number;
  return success();
}

/// A part of 1, less than all of it.
FailureOr<double> CostTableReader::readSlowdown(StringRef name,
                                                const toml::node &value) {
  std::optional<double> number =
      value.is_boolean() ? std::nullopt : value.value<double>();
  if (number && *number >= 0 && *number < 1)
    return *number;
  return report(value) << "expects `" << name
                       << "` to be a number from 0 to below 1, but got "
                       << (number ? toText(*number) : describeToml(value));
}

static bool isOverlapKey(StringRef name) {
  return name == kSlowsComputeKey || name == kSlowsAcrossKey ||
         name == kBesideKey || name == kBeginKey;
}

LogicalResult CostTableReader::readOverlap(StringRef name,
                                           const toml::node &value) {
  Overlap &overlap = costs.overlap;
  if (name == kBesideKey)
    return readNumber(context, path, name, value, overlap.besideUs);
  if (name == kBeginKey)
    return readNumber(context, path, name, value, overlap.beginUs);
  FailureOr<double> part = readSlowdown(name, value);
  if (failed(part))
    return failure();
  if (name == kSlowsComputeKey)
    overlap.slowsCompute = *part;
  else
    overlap.slowsComputeAcross = *part;
  return success();
}

/// Of all links, or of those along an axis.
LogicalResult CostTableReader::readLink(const toml::table &table,
                                        StringRef axis) {
  for (auto &&[key, value] : table) {
    StringRef name(key.str());
    CostTable::LinkPart &part = costs.links[axis];
    LogicalResult read = success();
    if (name == "gigabytes_per_second")
      read = readRate(name, value, part.gigabytesPerSecond);
    else if (name == "latency_us")
      read = readRate(name, value, part.latencyUs);
    else if (isOverlapKey(name) && axis.empty())
      read = readOverlap(name, value);
    else if (axis.empty() && value.is_table())
      read = readLink(*value.as_table(), name);
    else
      read = report(value)
             << "expects gigabytes_per_second"
             << (axis.empty()
                     ? ", latency_us, slows_compute, slows_compute_across, "
                       "beside_us, begin_us or a table of an axis"
                     : " or latency_us")
             << ", but got `" << name << "`";
    if (failed(read))
      return failure();
  }
  return success();
}

LogicalResult CostTableReader::readFormat(const toml::table &table) {
  const toml::node *value = table.get(kFormatKey.str());
  if (!value)
    return success();
  std::optional<int64_t> number = value->value_exact<int64_t>();
  if (number && (*number == 1 || *number == kCostTableFormat)) {
    format = *number;
    hasFormat = true;
    return success();
  }
  InFlightDiagnostic error = report(*value);
  error << "expects `format` to be 1 or " << kCostTableFormat << ", but got ";
  return number ? error << *number : error << describeToml(*value);
}

/// Files of format 1 have no target, no rates of scores, no threads and no
/// kinds of kernels.
LogicalResult CostTableReader::checkFormat(StringRef name,
                                           const toml::node &value,
                                           StringRef kind, bool isTop) {
  const bool isNew =
      isTop ? name == kTargetKey || name == kThreadsKey || isKernel(name)
            : isAttention(kind) && name == kGigascoresKey;
  if (!isNew || format >= kCostTableFormat)
    return success();
  return report(value) << "expects `format = " << kCostTableFormat
                       << "` at the top of a table with `" << name
                       << "`, but got "
                       << (hasFormat ? "`format = 1`" : "none");
}

LogicalResult CostTableReader::readThreads(const toml::node &value) {
  std::optional<int64_t> number = value.value_exact<int64_t>();
  if (!number || *number < 1 || *number > 4096)
    return report(value)
           << "expects `threads` to be an integer from 1 to 4096, but got "
           << (number ? std::to_string(*number) : describeToml(value));
  if (target == "cuda")
    return report(value) << "expects no `threads` in a cost table for "
                            "--target=cuda: they are of a CPU";
  costs.threads = *number;
  return success();
}

FailureOr<std::string> weft::readTarget(MLIRContext *context, StringRef path,
                                        const toml::node &value,
                                        StringRef wanted) {
  const std::optional<std::string> name = value.value_exact<std::string>();
  if (!name || (*name != "cpu" && *name != "cuda"))
    return emitError(locateToml(context, path, value.source()))
           << "expects `target` to be \"cpu\" or \"cuda\", but got "
           << describeToml(value);
  if (!wanted.empty() && *name != wanted)
    return emitError(locateToml(context, path, value.source()))
           << "expects `target` to be \"" << wanted
           << "\", as --target is, but got \"" << *name << "\"";
  return *name;
}

InFlightDiagnostic weft::reportMissingTarget(MLIRContext *context,
                                             StringRef path, StringRef wanted) {
  return emitError(FileLineColLoc::get(context, path, 1, 1))
         << "expects `target` to be \"" << wanted
         << "\", as --target is, but got none";
}

LogicalResult CostTableReader::refuse(StringRef name, const toml::node &value,
                                      StringRef kind, StringRef element) {
  return report(value) << "expects " << listKeys(kind, element)
                       << (isCollectiveKind(kind) ? " of a collective" : "")
                       << ", but got `" << name << "`";
}

LogicalResult CostTableReader::read(const toml::table &table, StringRef kind,
                                    StringRef element) {
  bool isNested = !kind.empty() && !element.empty();
  std::string part = (kind + (isNested ? "." : "") + element).str();
  for (auto &&[key, value] : table) {
    StringRef name(key.str());
    const bool isTop = kind.empty() && element.empty();
    if (isTop && name == kFormatKey)
      continue;
    if (failed(checkFormat(name, value, kind, isTop)))
      return failure();
    if (isTop && name == kTargetKey) {
      FailureOr<std::string> read = readTarget(context, path, value, target);
      if (failed(read))
        return failure();
      costs.target = std::move(*read);
      continue;
    }
    if (isTop && name == kThreadsKey) {
      if (failed(readThreads(value)))
        return failure();
      continue;
    }
    if (const RateKey *key = findRateKey(kind, name)) {
      if (failed(readRate(name, value, costs.parts[part].*key->rate)))
        return failure();
      continue;
    }
    const bool isElement = hasElements(kind, element) && isElementType(name);
    const bool isLink = isTop && name == kLinkKey;
    if (!isElement && !isLink &&
        !(isTop && (isCommand(name) || isKernel(name))))
      return refuse(name, value, kind, element);
    if (!value.is_table())
      return report(value) << "expects `" << name
                           << "` to be a table of rates, but got "
                           << describeToml(value);
    if (isLink) {
      if (failed(readLink(*value.as_table(), "")))
        return failure();
      continue;
    }
    if (failed(read(*value.as_table(), isElement ? kind : name,
                    isElement ? name : element)))
      return failure();
  }
  return success();
}

LogicalResult CostTableReader::checkTarget() {
  if (target.empty() || !costs.target.empty())
    return success();
  const bool isOld = format < kCostTableFormat;
  if (isOld && target == "cpu")
    return success(); // of a `weft bench` that wrote no target
  InFlightDiagnostic error = reportMissingTarget(context, path, target);
  error.attachNote() << "write " << (isOld ? "`format = 2` and " : "")
                     << "`target = \"" << target
                     << "\"` at its top if the rates are of such a machine"
                     << (target == "cpu" ? "; weft bench -o FILE.toml measures "
                                           "a table that has it"
                                         : "");
  return error;
}

FailureOr<CostTable> weft::readCosts(MLIRContext *context, StringRef path,
                                     const toml::table &table, StringRef target,
                                     bool isFile) {
  CostTableReader reader(context, path, target);
  if (failed(reader.readFormat(table)) ||
      failed(reader.read(table, /*kind=*/"", /*element=*/"")))
    return failure();
  // Estimates at default rates would look like measured ones.
  if (reader.costs.parts.empty() && reader.costs.links.empty())
    return emitError(locateToml(context, path, table.source()))
           << "expects a rate in a cost table, such as gflops, but got none";
  if (isFile && failed(reader.checkTarget()))
    return failure();
  return std::move(reader.costs);
}

FailureOr<CostTable> weft::readCostTable(MLIRContext *context, StringRef path,
                                         StringRef target) {
  FailureOr<TomlFile> file = readTomlFile(context, path, "cost table");
  if (failed(file))
    return failure();
  return readCosts(context, path, file->table, target, /*isFile=*/true);
}
