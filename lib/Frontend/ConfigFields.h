//===- ConfigFields.h - The fields of a config.json -------------*- C++ -*-===//
//
// Reads the fields of a configuration one by one, remembers which were asked
// for, and reports the rest. All errors of a file are reported, not only the
// first.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_FRONTEND_CONFIGFIELDS_H
#define WEFT_LIB_FRONTEND_CONFIGFIELDS_H

#include "weft/Formats/Json.h"
#include "weft/Frontend/Frontend.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

#include "llvm/ADT/StringSet.h"

namespace weft {

/// Place in a model file; line 0 means the file as a whole.
mlir::Location fileLocation(mlir::MLIRContext &context, llvm::StringRef file,
                            int line);

/// Turns an error of lib/Formats into a diagnostic; its hint becomes a note.
mlir::LogicalResult report(mlir::MLIRContext &context, const Error &error);

class ConfigFields {
public:
  /// Unknown fields in `ignored` are accepted; the list must outlive this.
  ConfigFields(const Json &object, const std::string &file,
               llvm::ArrayRef<std::string> ignored, mlir::MLIRContext &context)
      : cursor(object, file), b(&context), ignored(ignored) {}

  /// Whether a field is there and is null.
  bool isNull(llvm::StringRef name);
  bool has(llvm::StringRef name) { return lookup(name).has_value(); }

  /// A required size, at least 1.
  int64_t size(llvm::StringRef name, int64_t most = kMaxSize);
  /// A size that is computed if it is absent.
  int64_t size(llvm::StringRef name, int64_t fallback, int64_t most);
  /// A number that may be below 1.
  int64_t integer(llvm::StringRef name, int64_t fallback, int64_t least,
                  int64_t most = kMaxSize);
  double number(llvm::StringRef name, double fallback, double least,
                double most);
  bool boolean(llvm::StringRef name, bool fallback);
  std::string text(llvm::StringRef name, llvm::StringRef fallback);
  /// Lists, or nothing if the field is absent.
  std::optional<std::vector<int64_t>> integerList(llvm::StringRef name);
  std::optional<std::vector<double>> numberList(llvm::StringRef name);
  std::optional<std::vector<std::string>> textList(llvm::StringRef name);
  /// A required number, or an error.
  double requiredNumber(llvm::StringRef name, double least, double most);
  /// A field that must be `flag` if it is there.
  void expectFlag(llvm::StringRef name, bool flag, llvm::StringRef feature);
  /// A field that must have this number if it is there: another one asks for
  /// `feature`.
  void expectNumber(llvm::StringRef name, double value,
                    llvm::StringRef feature);
  /// An integer that nothing is built of, if it is there and is one.
  std::optional<int64_t> peekInteger(llvm::StringRef name);
  /// The element type the weights are said to have: `dtype` or `torch_dtype`.
  void dtype();
  /// The fields of a nested object, or nothing if it is absent or null. Its
  /// errors count as errors of this object after join().
  std::optional<ConfigFields> object(llvm::StringRef name);
  void join(const ConfigFields &nested);

  /// An error at a field that is there, or at the object.
  mlir::InFlightDiagnostic error(llvm::StringRef name);
  /// An error about the value of a field: "field 'PATH': ...".
  mlir::InFlightDiagnostic valueError(llvm::StringRef name);
  mlir::InFlightDiagnostic warning(llvm::StringRef name);
  void fail() { failedFlag = true; }
  bool failed() const { return failedFlag; }
  mlir::MLIRContext *context() const { return b.getContext(); }

  /// Names of this object that were not asked for, are not null and are not
  /// known to be harmless.
  std::vector<std::string>
  unknownFields(llvm::ArrayRef<llvm::StringRef> harmless) const;
  /// Every field that was not asked for and is not known to be harmless is an
  /// error. A harmless name may end in "*".
  void finish(llvm::StringRef family, llvm::ArrayRef<llvm::StringRef> harmless);
  /// Call on the outermost object after finish(). A name in `ignored` that
  /// named no unknown field is an error.
  void checkIgnored();

  /// Records a value under a name of its own (without `default` mark if given).
  void record(llvm::StringRef name, mlir::Attribute value, bool given);
  mlir::DictionaryAttr recorded() const { return b.getDictionaryAttr(records); }

  static constexpr int64_t kMaxSize = int64_t(1) << 24;

private:
  ConfigFields(JsonCursor cursor, const ConfigFields &parent,
               std::string prefix)
      : cursor(std::move(cursor)), b(parent.b), ignored(parent.ignored),
        prefix(std::move(prefix)) {}

  /// Of a field that is there, or of the object.
  mlir::Location placeOf(llvm::StringRef name) const;
  /// The value of a field; null counts as absent.
  std::optional<JsonCursor> lookup(llvm::StringRef name);
  /// The value of `read`, or `fallback` and an error.
  template <typename T> T take(const Expected<T> &value, T fallback);
  /// The list at a field, each element read by `read`, recorded as JSON text.
  template <typename T, typename Read>
  std::optional<std::vector<T>> list(llvm::StringRef name, Read read);
  std::string hintOfUnknown(const JsonMember &member,
                            const std::vector<std::string> &names);
  double checkRange(const JsonCursor &field, double value, double least,
                    double most);

  JsonCursor cursor;
  mutable mlir::Builder b;
  llvm::ArrayRef<std::string> ignored;
  std::string prefix;
  llvm::StringSet<> asked;
  /// Full paths, nested objects included: unknown fields that were ignored,
  /// and fields that weft knows.
  llvm::StringSet<> passedOver, known;
  llvm::SmallVector<mlir::NamedAttribute> records;
  bool failedFlag = false;
  /// One hint for all missing sizes is enough.
  bool hintedAtDefaults = false;
};

} // namespace weft

#endif // WEFT_LIB_FRONTEND_CONFIGFIELDS_H
