//===- ConfigFields.cpp - The fields of a config.json ---------------------===//

#include "ConfigFields.h"
#include "RefusedModels.h"

#include "weft/Base/Text.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

Location weft::fileLocation(MLIRContext &context, llvm::StringRef file,
                            int line) {
  return FileLineColLoc::get(&context, file, line, 0);
}

LogicalResult weft::report(MLIRContext &context, const Error &error) {
  InFlightDiagnostic diag =
      emitError(fileLocation(context, error.file(), error.line()))
      << error.message();
  if (!error.hintText().empty())
    diag.attachNote() << error.hintText();
  return failure();
}

std::optional<JsonCursor> ConfigFields::lookup(llvm::StringRef name) {
  asked.insert(name);
  std::optional<JsonCursor> field = cursor.find(name.str());
  if (field && field->value().isNull())
    return std::nullopt;
  return field;
}

bool ConfigFields::isNull(llvm::StringRef name) {
  asked.insert(name);
  std::optional<JsonCursor> field = cursor.find(name.str());
  return field && field->value().isNull();
}

void ConfigFields::record(llvm::StringRef name, Attribute value, bool given) {
  SmallVector<NamedAttribute> entry = {b.getNamedAttr("value", value)};
  if (!given)
    entry.push_back(b.getNamedAttr("default", b.getUnitAttr()));
  records.push_back(
      b.getNamedAttr(prefix + name.str(), b.getDictionaryAttr(entry)));
}

template <typename T>
T ConfigFields::take(const Expected<T> &value, T fallback) {
  if (value)
    return *value;
  (void)report(*b.getContext(), value.error());
  failedFlag = true;
  return fallback;
}

int64_t ConfigFields::size(llvm::StringRef name, int64_t most) {
  if (!lookup(name)) {
    InFlightDiagnostic diag = error(name);
    diag << "expects field '" << prefix << name
         << "', a size that has no default";
    if (!std::exchange(hintedAtDefaults, true))
      diag.attachNote() << "transformers may have one: "
                        << completeConfigCommand(cursor.file())
                        << " writes a config.json with all fields into the "
                           "folder text";
    return 1;
  }
  return size(name, 1, most);
}

int64_t ConfigFields::size(llvm::StringRef name, int64_t fallback,
                           int64_t most) {
  return integer(name, fallback, /*least=*/1, most);
}

int64_t ConfigFields::integer(llvm::StringRef name, int64_t fallback,
                              int64_t least, int64_t most) {
  std::optional<JsonCursor> field = lookup(name);
  int64_t value = field ? take(field->asInt(least, most), fallback) : fallback;
  record(name, b.getI64IntegerAttr(value), field.has_value());
  return value;
}

template <typename T, typename Read>
std::optional<std::vector<T>> ConfigFields::list(llvm::StringRef name,
                                                 Read read) {
  std::optional<JsonCursor> field = lookup(name);
  if (!field)
    return std::nullopt;
  record(name, b.getStringAttr(field->value().compact()), /*given=*/true);
  const size_t size = take(field->arraySize(), size_t(0));
  std::vector<T> values;
  for (size_t i = 0; i < size; ++i)
    values.push_back(take(read(field->element(i)), T()));
  return values;
}

std::optional<std::vector<int64_t>>
ConfigFields::integerList(llvm::StringRef name) {
  return list<int64_t>(name,
                       [](const JsonCursor &item) { return item.asInt(); });
}

std::optional<std::vector<double>>
ConfigFields::numberList(llvm::StringRef name) {
  return list<double>(name,
                      [](const JsonCursor &item) { return item.asDouble(); });
}

std::optional<std::vector<std::string>>
ConfigFields::textList(llvm::StringRef name) {
  return list<std::string>(
      name, [](const JsonCursor &item) { return item.asString(); });
}

double ConfigFields::checkRange(const JsonCursor &field, double value,
                                double least, double most) {
  if (value >= least && value <= most)
    return value;
  error(field.path()) << "field '" << field.path() << "': expects a number in ["
                      << Json(least).compact() << ", " << Json(most).compact()
                      << "], but got " << field.value().compact();
  return least;
}

double ConfigFields::number(llvm::StringRef name, double fallback, double least,
                            double most) {
  std::optional<JsonCursor> field = lookup(name);
  double value = fallback;
  if (field)
    value = checkRange(*field, take(field->asDouble(), least), least, most);
  record(name, b.getF64FloatAttr(value), field.has_value());
  return value;
}

double ConfigFields::requiredNumber(llvm::StringRef name, double least,
                                    double most) {
  if (lookup(name))
    return number(name, least, least, most);
  error(name) << "expects field '" << prefix << name << "'";
  return least;
}

bool ConfigFields::boolean(llvm::StringRef name, bool fallback) {
  std::optional<JsonCursor> field = lookup(name);
  bool value = field ? take(field->asBool(), fallback) : fallback;
  record(name, b.getBoolAttr(value), field.has_value());
  return value;
}

std::string ConfigFields::text(llvm::StringRef name, llvm::StringRef fallback) {
  std::optional<JsonCursor> field = lookup(name);
  std::string value =
      field ? take(field->asString(), fallback.str()) : fallback.str();
  record(name, b.getStringAttr(value), field.has_value());
  return value;
}

void ConfigFields::expectFlag(llvm::StringRef name, bool flag,
                              llvm::StringRef feature) {
  std::optional<JsonCursor> field = lookup(name);
  if (field && take(field->asBool(), flag) != flag)
    valueError(name) << "does not support " << feature << " yet";
}

void ConfigFields::expectNumber(llvm::StringRef name, double value,
                                llvm::StringRef feature) {
  std::optional<JsonCursor> field = lookup(name);
  if (!field)
    return;
  const double given = take(field->asDouble(), value);
  if (given != value)
    valueError(name) << "does not support " << feature << " yet: expects "
                     << numberText(value) << ", but got "
                     << field->value().compact();
}

std::optional<int64_t> ConfigFields::peekInteger(llvm::StringRef name) {
  std::optional<JsonCursor> field = lookup(name);
  if (!field || !field->value().isInt())
    return std::nullopt;
  return field->value().asInt();
}

void ConfigFields::dtype() {
  for (llvm::StringRef name : {"dtype", "torch_dtype"}) {
    if (!lookup(name))
      continue;
    std::string value = text(name, "");
    llvm::StringRef known[] = {"float32", "float16", "bfloat16"};
    if (!value.empty() && !llvm::is_contained(known, value))
      valueError(name) << "expects float32, float16 or bfloat16, but got '"
                       << printable(value, 80) << "'";
  }
}

std::optional<ConfigFields> ConfigFields::object(llvm::StringRef name) {
  std::optional<JsonCursor> field = lookup(name);
  if (!field)
    return std::nullopt;
  if (field->value().isObject())
    return ConfigFields(*field, *this, prefix + name.str() + ".");
  (void)report(*b.getContext(),
               field->error("expects an object, but got " +
                            printable(field->value().compact(), 80)));
  failedFlag = true;
  return std::nullopt;
}

void ConfigFields::join(const ConfigFields &nested) {
  failedFlag |= nested.failedFlag;
  llvm::append_range(records, nested.records);
  for (llvm::StringRef name : nested.passedOver.keys())
    passedOver.insert(name);
  for (llvm::StringRef name : nested.known.keys())
    known.insert(name);
}

Location ConfigFields::placeOf(llvm::StringRef name) const {
  llvm::StringRef last = name;
  last.consume_front(prefix);
  std::optional<JsonCursor> field = cursor.find(last.str());
  int line = (field ? *field : cursor).value().line();
  return fileLocation(*b.getContext(), cursor.file(), line);
}

InFlightDiagnostic ConfigFields::error(llvm::StringRef name) {
  failedFlag = true;
  return emitError(placeOf(name));
}

InFlightDiagnostic ConfigFields::valueError(llvm::StringRef name) {
  return std::move(error(name) << "field '" << prefix << name << "': ");
}

InFlightDiagnostic ConfigFields::warning(llvm::StringRef name) {
  return emitWarning(placeOf(name));
}

/// Whether a name is in a list whose names may end in "*".
static bool isAmong(llvm::ArrayRef<llvm::StringRef> names,
                    llvm::StringRef name) {
  return llvm::any_of(names, [&](llvm::StringRef known) {
    return known.consume_back("*") ? name.starts_with(known) : name == known;
  });
}

std::vector<std::string>
ConfigFields::unknownFields(llvm::ArrayRef<llvm::StringRef> harmless) const {
  std::vector<std::string> names;
  for (const JsonMember &member : cursor.value().asObject())
    if (!asked.contains(member.name) && !isAmong(harmless, member.name) &&
        !member.value.isNull())
      names.push_back(member.name);
  return names;
}

/// The hint for an unknown field, in front of the hint to ignore it.
std::string ConfigFields::hintOfUnknown(const JsonMember &member,
                                        const std::vector<std::string> &names) {
  if (std::string hint = hintOfField(member.name, member.value); !hint.empty())
    return hint + "; ";
  std::string near = similarName(member.name, names);
  return near.empty() ? "" : "the nearest field is '" + prefix + near + "'; ";
}

void ConfigFields::finish(llvm::StringRef family,
                          llvm::ArrayRef<llvm::StringRef> harmless) {
  std::vector<std::string> names;
  for (llvm::StringRef name : harmless)
    if (!name.contains('*')) // a pattern
      names.push_back(name.str());
  for (llvm::StringRef name : asked.keys())
    names.push_back(name.str());
  llvm::sort(names); // of equally near ones always the same
  for (const std::string &name : names)
    known.insert(prefix + name);
  for (const JsonMember &member : cursor.value().asObject()) {
    // As in transformers, null says that there is nothing of the kind.
    std::string name = prefix + member.name;
    if (isAmong(harmless, member.name))
      known.insert(name);
    if (asked.contains(member.name) || isAmong(harmless, member.name))
      continue;
    if (llvm::is_contained(ignored, name))
      passedOver.insert(name);
    if (passedOver.contains(name) || member.value.isNull())
      continue;
    InFlightDiagnostic diag = error(member.name);
    diag << "expects a field that weft knows for " << family << ", but got '"
         << printable(name, 200) << "'";
    diag.attachNote() << hintOfUnknown(member, names)
                      << "--ignore-field=" << printable(name, 200)
                      << " continues without its effect";
  }
}

void ConfigFields::checkIgnored() {
  for (const std::string &name : ignored) {
    if (passedOver.contains(name))
      continue;
    failedFlag = true;
    InFlightDiagnostic diag =
        emitError(fileLocation(*b.getContext(), cursor.file(), 0));
    diag << "--ignore-field expects a field of this file that weft does not "
            "know, but got '"
         << printable(name, 200) << "', "
         << (known.contains(name) ? "which weft knows" : "which is not in it");
  }
}
