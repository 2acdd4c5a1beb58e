//===- ChoiceScores.cpp - Multiple choice by log-likelihood ---------------===//

#include "ChoiceScores.h"

#include "ChoiceEncoder.h"
#include "ProgramProcess.h"
#include "TokenizedData.h"

#include "weft/Abi/Names.h"
#include "weft/Base/CountText.h"
#include "weft/Base/Results.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Temporaries.h"
#include "weft/Base/Text.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/Safetensors.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Runtime/Collectives/Processes.h"
#include "weft/Runtime/Reports/Progress.h"
#include "weft/Runtime/Run/Predict.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

using namespace weft;
namespace fs = std::filesystem;

ChoiceAccuracy weft::scoreChoices(const std::vector<ChoiceQuestion> &questions,
                                  const std::vector<float> &logLikelihoods) {
  size_t right = 0, rightNorm = 0, at = 0;
  for (const ChoiceQuestion &question : questions) {
    size_t best = 0, bestNorm = 0;
    auto norm = [&](size_t i) {
      return double(logLikelihoods[at + i]) /
             double(question.choices[i].size());
    };
    for (size_t i = 1; i < question.choices.size(); ++i) {
      if (logLikelihoods[at + i] > logLikelihoods[at + best])
        best = i;
      if (norm(i) > norm(bestNorm))
        bestNorm = i;
    }
    right += best == question.answer;
    rightNorm += bestNorm == question.answer;
    at += question.choices.size();
  }
  const auto count = double(questions.size());
  return {double(right) / count, double(rightNorm) / count};
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// A folder with the rows of a file of questions, while it lives.
struct ChoiceRows {
  std::string path; // of the questions
  std::vector<ChoiceQuestion> questions;
  Temporary folder;

  std::string rows() const { return folder.path() + "/rows.safetensors"; }
  std::string results() const { return folder.path() + "/results.safetensors"; }
};
} // namespace

static Status checkModel(const Metadata &metadata, const std::string &path) {
  if (!metadata.isLanguageModel())
    return inputError("expects data of rows, since ", inQuotes(metadata.name),
                      " is no language model, but got questions")
        .at(path);
  return Status::success();
}

static Expected<ChoiceRows>
makeRows(const FlagValues &flags, const std::string &path,
         const Program &program, const Metadata &metadata, bool needsAnswers) {
  if (Status s = checkModel(metadata, path); !s)
    return s.takeError();
  ChoiceRows made;
  made.path = path;
  if (Status s = assign(readQuestions(path, needsAnswers), made.questions); !s)
    return s.takeError();
  const std::string tokenizer = usedTokenizer(flags, metadata, program);
  std::optional<TextTokenizer> text;
  if (!tokenizer.empty())
    if (Status s = assign(loadTokenizer(tokenizer, metadata), text); !s)
      return s.takeError();
  const ChoiceEncoder encoder(text ? &*text : nullptr, metadata);
  std::error_code missing;
  const fs::path place = fs::temp_directory_path(missing);
  if (missing)
    return storageError("expects a folder for temporary files in TMPDIR: " +
                        missing.message());
  if (Status s =
          assign(Temporary::folder((place / "weft-choices.tmp").string()),
                 made.folder);
      !s)
    return s.takeError();
  if (Status s =
          writeChoiceRows(made.questions, path, encoder, metadata, made.rows());
      !s)
    return s.takeError();
  return made;
}

/// No output of the command is the file of questions, or a file of others.
static Status checkFiles(const FlagValues &flags, const std::string &role,
                         const std::string &path) {
  const std::vector<FileUse> outputs = flags.files(FlagFile::Written);
  if (Status s = checkOutputPaths(outputs, {{role, path}}, manifestName); !s)
    return s;
  return checkReplaced(outputs, flags.getSwitch("overwrite"));
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// Runs the program, and prints its lines except those about its own files,
/// which are temporary.
static Expected<ExitCode> runOnRows(const Program &program,
                                    const Metadata &metadata,
                                    const Arguments &flags,
                                    const std::string &temporary) {
  const ProgramRanks ranks = {metadata.ranks(),
                              metadata.target.rfind("cuda", 0) == 0};
  Expected<ProgramProcess> process = startProgram(program, ranks, flags);
  if (!process)
    return process.takeError();
  Status printed = forProgramLines(*process, [&](const std::string &line) {
    if (line.find(temporary) != line.npos || line.rfind("data ", 0) == 0)
      return;
    printEscaped(line + "\n");
    flushOutput();
  });
  Expected<ExitCode> code = waitForProgram(*process);
  if (!printed)
    return printed.takeError();
  return code;
}

/// The flags of a run over the rows. Flags of the command alone are left out.
static Arguments runFlagsOf(const FlagValues &flags, const ChoiceRows &rows,
                            const std::string &output) {
  static constexpr std::string_view own[] = {
      "data", "val-data", "metrics", "output", "overwrite", "tokenizer"};
  Arguments run = {"--data=" + rows.rows(), "--data-name=" + rows.path,
                   "--predictions=" + output};
  for (const std::string &flag : flags.canonical(RunFlag)) {
    const std::string name = flag.substr(2, flag.find('=') - 2);
    if (std::find(std::begin(own), std::end(own), name) == std::end(own))
      run.push_back(flag);
  }
  return run;
}

Expected<ExitCode> weft::predictChoices(const FlagValues &flags,
                                        const Program &program,
                                        const Metadata &metadata) {
  const std::string &path = flags.getString("data");
  if (Status s = checkFiles(flags, "--data", path); !s)
    return s.takeError();
  Expected<ChoiceRows> rows =
      makeRows(flags, path, program, metadata, /*needsAnswers=*/false);
  if (!rows)
    return rows.takeError();
  Arguments run = runFlagsOf(flags, *rows, flags.getString("output"));
  if (flags.getSwitch("overwrite"))
    run.push_back("--overwrite");
  return runOnRows(program, metadata, run, rows->folder.path());
}

//===----------------------------------------------------------------------===//
// weft evaluate
//===----------------------------------------------------------------------===//

namespace {
struct ChoiceResults {
  std::vector<float> logLikelihoods;
  int64_t step = 0; // of the weights
};
} // namespace

static Expected<ChoiceResults> readResults(const std::string &path,
                                           int64_t count) {
  Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.takeError();
  ChoiceResults results;
  for (const auto &[name, text] : file->metadata())
    if (name == kStepKey)
      results.step = std::strtoll(text.c_str(), nullptr, 10);
  const TensorInfo *info = file->find(names::kLogLikelihood);
  if (!info || info->elements() != count)
    return inputError("expects a program with the output '",
                      names::kLogLikelihood,
                      "', a number for each row, but got none")
        .hint("the program of kind predict in the model's text lacks it");
  results.logLikelihoods.resize(size_t(count));
  if (Status s = file->readFloats(*info, results.logLikelihoods.data()); !s)
    return s.takeError();
  for (const float number : results.logLikelihoods)
    if (!std::isfinite(number))
      return numericsError("a log-likelihood is not a number");
  return results;
}

static Json accuracyJson(const ChoiceAccuracy &accuracy, int64_t step,
                         size_t questions) {
  Json line = Json::object();
  line.set("step", step);
  line.set("accuracy", accuracy.accuracy);
  line.set("accuracy_norm", accuracy.accuracyNorm);
  line.set("questions", int64_t(questions));
  return line;
}

/// The first line of the metrics of questions.
static std::string choiceHeader(const Metadata &metadata,
                                const std::string &path) {
  Json head = Json::object();
  head.set("weft", metadata.version);
  head.set("model", metadata.name);
  head.set("fingerprint", metadata.fingerprint);
  if (!metadata.fingerprint1.empty())
    head.set("fingerprint_1", metadata.fingerprint1);
  head.set("target", metadata.target);
  head.set("ranks", metadata.ranks());
  head.set("data", path);
  head.set("batch", metadata.batch);
  head.set("seq", metadata.seq);
  return head.compact();
}

/// Appends a line to the metrics, as --eval-only does.
static Status writeMetrics(const FlagValues &flags, const Metadata &metadata,
                           const std::string &line) {
  const std::string &path = flags.getString("metrics");
  if (path.empty())
    return Status::success();
  Expected<FileLock> old = FileLock::take(path);
  if (!old)
    return old.takeError();
  Expected<MetricsStart> start =
      startMetrics(path, choiceHeader(metadata, flags.getString("val-data")),
                   keepAllSteps, flags.getSwitch("overwrite"));
  if (!start)
    return start.takeError();
  Expected<MetricsLog> log = MetricsLog::open(path, *start, *old);
  if (!log)
    return log.takeError();
  return log->line(line);
}

static void printAccuracy(const std::string &progress, const Json &line,
                          const std::vector<ChoiceQuestion> &questions) {
  if (progress == "json")
    printText(line.compact() + "\n");
  if (progress == "json" || progress == "none")
    return;
  auto number = [&](const char *name) {
    return threeDigits(line.find(name)->asDouble(), /*decimals=*/4);
  };
  printText(concat("step ", line.find("step")->asInt(), "  accuracy ",
                   number("accuracy"), "  accuracy_norm ",
                   number("accuracy_norm"), "  (",
                   countText(int64_t(questions.size()), "question"), ", ",
                   countText(countChoices(questions), "choice"), ")\n"));
}

/// Flags of evaluations that questions do not have.
static Status checkChoiceFlags(const FlagValues &flags) {
  for (const char *name :
       {"eval-steps", "tensorboard", "data", "val-fraction", "data-format"})
    if (flags.isSet(name))
      return usageError("--", name,
                        " expects validation data of text or tokens, but got "
                        "questions");
  return Status::success();
}

Expected<ExitCode> weft::evaluateChoices(const FlagValues &flags,
                                         const Program &program,
                                         const Metadata &metadata) {
  const std::string &path = flags.getString("val-data");
  if (Status s = checkChoiceFlags(flags); !s)
    return s.takeError();
  if (Status s = checkFiles(flags, "--val-data", path); !s)
    return s.takeError();
  Expected<ChoiceRows> rows =
      makeRows(flags, path, program, metadata, /*needsAnswers=*/true);
  if (!rows)
    return rows.takeError();
  const std::string &progress = flags.getString("progress");
  // The tool prints its own JSON record, with the accuracy.
  Arguments run =
      runFlagsOf(progress == "json" ? flags.with("progress", "none") : flags,
                 *rows, rows->results());
  Expected<ExitCode> code =
      runOnRows(program, metadata, run, rows->folder.path());
  if (!code || *code != ExitCode::Ok || flags.getSwitch("dry-run"))
    return code;
  // Of the processes of a launcher, the first one has the results.
  if (metadata.ranks() > 1 && findRankNumber() != 0)
    return ExitCode::Ok;
  Expected<ChoiceResults> results =
      readResults(rows->results(), countChoices(rows->questions));
  if (!results)
    return results.takeError();
  const Json line =
      accuracyJson(scoreChoices(rows->questions, results->logLikelihoods),
                   results->step, rows->questions.size());
  printAccuracy(progress, line, rows->questions);
  if (Status s = writeMetrics(flags, metadata, line.compact()); !s)
    return s.takeError();
  return ExitCode::Ok;
}
