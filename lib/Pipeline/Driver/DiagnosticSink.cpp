//===- DiagnosticSink.cpp - MLIR diagnostics become weft errors -----------===//

#include "DiagnosticSink.h"

#include "weft/Frontend/Frontend.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace weft;

/// Metadata of a remark that --explain asked for.
static constexpr char kExplanation[] = "explanation";

/// The first file position inside a location.
static FileLineColLoc findFile(Location location) {
  FileLineColLoc found;
  location->walk([&](Location part) {
    if (auto file = dyn_cast<FileLineColLoc>(part)) {
      found = file;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found;
}

/// "file:line: ", or nothing.
static std::string place(Location location) {
  FileLineColLoc file = findFile(location);
  if (!file)
    return "";
  std::string text = file.getFilename().str();
  if (file.getLine() > 0)
    text += ":" + std::to_string(file.getLine());
  return text + ": ";
}

Compiler::DiagnosticSink::DiagnosticSink(MLIRContext &context)
    : context(context) {
  handler = context.getDiagEngine().registerHandler(
      [this](Diagnostic &diagnostic) { return handle(diagnostic); });
}

Compiler::DiagnosticSink::~DiagnosticSink() {
  context.getDiagEngine().eraseHandler(handler);
}

static const char *severityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Remark:
    return "remark";
  case DiagnosticSeverity::Note:
    return "note";
  }
  return "note";
}

/// The exit code that the diagnostic carries (emitMachineError), else Input.
static ExitCode exitCodeOf(Diagnostic &diagnostic) {
  for (const DiagnosticArgument &argument : diagnostic.getMetadata())
    if (argument.getKind() ==
        DiagnosticArgument::DiagnosticArgumentKind::Integer)
      return static_cast<ExitCode>(argument.getAsInteger());
  return ExitCode::Input;
}

static bool hasMetadata(Diagnostic &diagnostic, StringRef text) {
  return llvm::any_of(diagnostic.getMetadata(), [&](auto &argument) {
    return argument.getKind() ==
               DiagnosticArgument::DiagnosticArgumentKind::String &&
           argument.getAsString() == text;
  });
}

/// In front of a line about training in the kept notices. escaped() leaves no
/// such byte in a line.
static constexpr char kTrainingMark = '\x1f';

std::string weft::shownNotices(StringRef notices, bool trains) {
  std::string text;
  while (!notices.empty()) {
    auto [line, rest] = notices.split('\n');
    const bool isOfTraining = line.consume_front(StringRef(&kTrainingMark, 1));
    if (trains || !isOfTraining)
      text += line.str() + "\n";
    notices = rest;
  }
  return text;
}

/// Whether the parser met an op of a dialect that is not loaded.
static bool isOfUnknownDialect(StringRef text) {
  return text.contains("not found for custom op") ||
         text.contains("unregistered dialect");
}

/// The notes of a diagnostic.
static std::string getHint(Diagnostic &diagnostic) {
  // MLIR's notes list its own dialects.
  if (isOfUnknownDialect(diagnostic.str()))
    return "weft has the dialects weft, dist and plan; --load-pass-plugin=FILE "
           "loads those of a plug-in";
  const std::string own = place(diagnostic.getLocation());
  std::string hint;
  for (Diagnostic &note : diagnostic.getNotes()) {
    std::string notePlace = place(note.getLocation());
    hint += hint.empty() ? "" : "; ";
    hint += (notePlace == own ? "" : notePlace) + note.str();
  }
  return hint;
}

/// The lines of a notice about training.
static std::string markedLines(StringRef text) {
  std::string marked;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    marked += kTrainingMark + line.str() + "\n";
    text = rest;
  }
  return marked;
}

LogicalResult Compiler::DiagnosticSink::handle(Diagnostic &diagnostic) {
  Location location = diagnostic.getLocation();
  const std::string hint = getHint(diagnostic);
  bool isFirstError =
      diagnostic.getSeverity() == DiagnosticSeverity::Error && !first;
  if (isFirstError) {
    first = Error(exitCodeOf(diagnostic), diagnostic.str());
    if (FileLineColLoc file = findFile(location))
      first->at(file.getFilename().str(), file.getLine());
    if (!hint.empty())
      first->hint(hint);
  } else {
    std::string text = std::string("weft: ") +
                       severityName(diagnostic.getSeverity()) + ": " +
                       place(location) + diagnostic.str() + "\n";
    if (!hint.empty())
      text += "hint: " + hint + "\n";
    text = escaped(text, "\n");
    const bool isOfTraining = hasMetadata(diagnostic, kTrainingNotice);
    if (showsTrainingNotices || !isOfTraining)
      std::fputs(text.c_str(), stderr);
    if (!hasMetadata(diagnostic, kExplanation))
      kept += isOfTraining ? markedLines(text) : text;
  }
  return success();
}

Error Compiler::DiagnosticSink::takeError(const std::string &what) {
  if (!first)
    return Error(ExitCode::Internal, what + " failed without a message");
  Error error = std::move(*first);
  first.reset();
  return error;
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

namespace {
/// Hands the text of remarks to the handler of diagnostics.
struct RemarkPrinter : remark::detail::MLIRRemarkStreamerBase {
  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    InFlightDiagnostic printed = emitRemark(remark.getLocation());
    for (const remark::detail::Remark::Arg &arg : remark.getArgs())
      printed << arg.val;
    printed.getUnderlyingDiagnostic()->getMetadata().emplace_back(
        StringRef(kExplanation));
  }
};
} // namespace

LogicalResult weft::printRemarks(MLIRContext &context,
                                 const std::string &category) {
  context.setRemarkEngine(nullptr);
  if (category.empty())
    return success();
  const std::string filter = "^" + category + "$";
  // LLVM 22 looks at `all` only beside the filter of a kind.
  const remark::RemarkCategories categories = {
      filter, /*passed=*/filter, /*missed=*/filter, /*analysis=*/filter,
      /*failed=*/filter};
  return remark::enableOptimizationRemarks(
      context, std::make_unique<RemarkPrinter>(),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}
