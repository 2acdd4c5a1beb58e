//===- Progress.cpp - Progress output of a run ----------------------------===//

#include "weft/Runtime/Reports/Progress.h"

#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Formats/Json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <unistd.h>

using namespace weft;

template <typename... Args>
static std::string format(const char *pattern, Args... args) {
  char text[256];
  int size = std::snprintf(text, sizeof text, pattern, args...);
  return std::string(text, size < 0 ? 0 : std::min<size_t>(size, 255));
}

/// A number as `pattern` says; NaN without a sign, which tells nothing.
static std::string number(const char *pattern, double value) {
  return std::isnan(value) ? "nan" : format(pattern, value);
}

/// `value` cut to thousandths: times need no more.
static double thousandths(double value) {
  return std::round(value * 1000.0) / 1000.0;
}

/// Adds an object of numbers or flags, if there are any.
template <typename List>
static void setNamed(Json &object, const char *key, const List &list) {
  if (list.empty())
    return;
  Json values = Json::object();
  for (const auto &[name, value] : list)
    values.set(name, value);
  object.set(key, std::move(values));
}

std::vector<double *> weft::listNumbers(ReportedMeans &means) {
  std::vector<double *> numbers = {&means.loss};
  for (NamedNumbers *list : {&means.losses, &means.metrics})
    for (auto &[name, value] : *list)
      numbers.push_back(&value);
  return numbers;
}

std::string weft::stepJson(const StepReport &report) {
  Json object = Json::object();
  object.set("step", report.step);
  object.set("loss", report.loss);
  setNamed(object, "losses", report.losses);
  setNamed(object, "metrics", report.metrics);
  object.set("lr", report.lr);
  object.set("grad_norm", report.hasGradNorm ? Json(report.gradNorm) : Json());
  object.set("loss_scale", report.lossScale);
  object.set("skipped", report.skipped);
  setNamed(object, "found_inf", report.foundInf);
  object.set("tokens_per_s", thousandths(report.tokensPerSecond));
  object.set("step_ms", thousandths(report.stepMs));
  object.set("compute_ms", thousandths(report.computeMs));
  object.set("data_ms", thousandths(report.dataMs));
  if (report.ranks) {
    object.set("comm_ms", report.ranks->isCommMsKnown
                              ? Json(thousandths(report.ranks->commMs))
                              : Json());
    object.set("comm_bytes", report.ranks->commBytes);
    object.set("lag_ms", thousandths(report.ranks->lagMs));
    object.set("slowest_rank", report.ranks->slowest);
  }
  object.set("mem_bytes", report.memoryBytes);
  return object.compact();
}

std::string weft::evalJson(const EvalReport &report) {
  Json object = Json::object();
  object.set("step", report.step);
  object.set("val_loss", report.loss);
  if (report.perplexity)
    object.set("perplexity", *report.perplexity);
  setNamed(object, "val_losses", report.losses);
  setNamed(object, "val_metrics", report.metrics);
  if (report.rows < report.availableRows) {
    object.set("val_rows", report.rows);
    object.set("val_rows_available", report.availableRows);
    object.set("val_sample", report.isSample);
  }
  return object.compact();
}

std::string weft::sampleJson(int64_t step, const std::string &text) {
  Json object = Json::object();
  object.set("step", step);
  object.set("sample", text);
  return object.compact();
}

Progress::Progress(ProgressKind kind, int64_t firstStep, int64_t lastStep,
                   int64_t logEvery, std::string unit)
    : kind(kind), firstStep(firstStep), lastStep(lastStep), logEvery(logEvery),
      unit(std::move(unit)) {}

void Progress::step(const StepReport &report) {
  // The first step warms caches up, so it leaves the mean with the second one.
  bool warm = report.step > firstStep + 1;
  meanMs = warm ? meanMs + 0.1 * (report.stepMs - meanMs) : report.stepMs;
  ++seen.steps;
  seen.loss = report.loss;
  seen.valLoss.reset();
  seen.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  if (kind == ProgressKind::None)
    return;
  if (kind == ProgressKind::Bar)
    return bar(report);
  bool wanted = report.step == firstStep || report.step == lastStep ||
                report.step % logEvery == 0;
  if (!wanted)
    return;
  if (kind == ProgressKind::Json)
    std::printf("%s\n", stepJson(report).c_str());
  else
    line(report);
  flushOutput();
}

/// Called for every drawing, so that resizes need no signal handler.
static int terminalColumns() {
  const int columns = launcherColumns();
  return columns > 0 ? columns : outputColumns();
}

std::string weft::describeEnd(const RunSummary &summary, size_t columns) {
  std::string text = "done      " + std::to_string(summary.steps) +
                     (summary.steps == 1 ? " step, " : " steps, ") +
                     threeDigits(summary.epochs, 2) + " epochs in " +
                     threeDigits(summary.seconds, 1) + " s: loss " +
                     threeDigits(summary.loss, 4);
  if (summary.valLoss)
    text += ", val_loss " + threeDigits(*summary.valLoss, 4);
  text += "\n";
  std::string files;
  for (const std::string &file : summary.files)
    files += (files.empty() ? "" : ", ") + printable(file, 200);
  return files.empty()
             ? text
             : text + "wrote     " + wrapText(files, 10, columns) + "\n";
}

std::string Progress::eta(const StepReport &report) const {
  int64_t seconds =
      int64_t(meanMs * double(lastStep - report.step) / 1000.0 + 0.5);
  if (seconds < 60)
    return format("%ds", int(seconds));
  if (seconds < 3600)
    return format("%dm%02ds", int(seconds / 60), int(seconds % 60));
  return format("%dh%02dm", int(seconds / 3600), int(seconds / 60 % 60));
}

/// " (mlm 2.1035, nsp 0.6931)", or nothing.
static std::string terms(const NamedNumbers &losses) {
  std::string text;
  for (const auto &[name, value] : losses)
    text += (text.empty() ? " (" : ", ") + name + " " + threeDigits(value, 4);
  return text.empty() ? text : text + ")";
}

/// "  accuracy 0.9375", or nothing.
static std::string metricsText(const NamedNumbers &metrics) {
  std::string text;
  for (const auto &[name, value] : metrics)
    text += "  " + name + " " + threeDigits(value, 4);
  return text;
}

static std::string skippedText(const StepReport &r) {
  std::string groups;
  for (const auto &[name, bad] : r.foundInf)
    if (bad)
      groups += (groups.empty() ? " " : ", ") + name;
  return r.skipped && !r.hasNoTargets ? "  skipped" + groups : "";
}

/// Three digits; microseconds are the last ones.
static std::string milliseconds(double value) {
  return value > 0 && value < 1 ? format("%.3f", value) : threeDigits(value, 1);
}

/// The parts of the time of a step.
static std::string partsText(const StepReport &r) {
  return " (compute " + milliseconds(r.computeMs) +
         (r.ranks && r.ranks->isCommMsKnown
              ? ", comm " + milliseconds(r.ranks->commMs)
              : "") +
         ", data " + milliseconds(r.dataMs) + ")";
}

std::vector<ProgressField> Progress::fields(const StepReport &r) const {
  std::vector<ProgressField> all = {
      {format("%lld/%lld", (long long)r.step, (long long)lastStep), 0},
      {"  loss " + threeDigits(r.loss, 4), 0},
      {terms(r.losses), 10},
      {metricsText(r.metrics), 4},
      {format("  lr %.3g", r.lr), 5}};
  if (r.hasGradNorm)
    all.push_back({"  norm " + number("%.3g", r.gradNorm), 6});
  if (r.hasScaler) {
    all.push_back({format("  scale %g", r.lossScale), 8});
    all.push_back({skippedText(r), 4});
    if (r.skips > 0)
      all.push_back({format("  skips %lld", (long long)r.skips), 7});
  }
  if (r.hasNoTargets)
    all.push_back({"  skipped: no targets", 4});
  all.push_back(
      {"  " + threeDigits(r.tokensPerSecond, 0) + " " + unit + "/s", 3});
  all.push_back({"  " + milliseconds(r.stepMs) + " ms", 9});
  all.push_back({partsText(r), 11});
  if (r.ranks)
    all.push_back({"  lag " + milliseconds(r.ranks->lagMs) + " ms of rank " +
                       std::to_string(r.ranks->slowest),
                   10});
  all.push_back({"  " + humanBytes(r.memoryBytes), 12});
  all.push_back({"  eta " + eta(r), 1});
  return all;
}

void Progress::line(const StepReport &report) {
  std::vector<ProgressField> all = fields(report);
  all.front().text = "step " + all.front().text;
  std::string text;
  for (const ProgressField &field : all)
    text += field.text;
  if (kind == ProgressKind::NarrowLine)
    text = fitFields(all, size_t(std::max(terminalColumns() - 1, 1)));
  std::printf("%s\n", text.c_str());
}

/// A line of JSON, which is there for a program.
static void print(const std::string &json) {
  std::printf("%s\n", json.c_str());
  flushOutput();
}

/// Which rows an evaluation did not count, or nothing.
static std::string countedText(const EvalReport &report) {
  if (report.rows == report.availableRows)
    return "";
  const std::string rows = std::to_string(report.rows) + " of " +
                           std::to_string(report.availableRows) + " rows";
  return report.isSample
             ? "  (a sample: " + rows + ")"
             : "  (only " + rows + ": the rest is less than a batch)";
}

void Progress::eval(const EvalReport &report) {
  seen.valLoss = report.loss;
  if (kind == ProgressKind::Json)
    return print(evalJson(report));
  std::string text = format("step %lld  val_loss ", (long long)report.step) +
                     threeDigits(report.loss, 4) + terms(report.losses) +
                     metricsText(report.metrics);
  if (report.perplexity)
    text += "  perplexity " + number("%.4g", *report.perplexity);
  note(text + countedText(report));
}

void Progress::sample(int64_t step, const std::string &text) {
  if (kind == ProgressKind::Json)
    return print(sampleJson(step, text));
  note(format("step %lld  sample\n", (long long)step) + forTerminal(text));
}

void Progress::note(const std::string &text) {
  if (kind == ProgressKind::None || kind == ProgressKind::Json)
    return;
  finish();
  std::printf("%s\n", text.c_str());
  flushOutput();
}

void Progress::finish() {
  if (!barOpen)
    return;
  std::printf("\n");
  flushOutput();
  barOpen = false;
}

//===- The bar ------------------------------------------------------------===//

std::string weft::fitFields(const std::vector<ProgressField> &fields,
                            size_t width) {
  std::vector<size_t> order(fields.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tie(fields[a].rank, a) < std::tie(fields[b].rank, b);
  });
  std::vector<bool> shown(fields.size());
  size_t used = 0;
  for (size_t i : order) {
    // Drop all fields from the first one that does not fit: no shown field is
    // less important than a dropped one.
    if (fields[i].rank > 0 && used + fields[i].text.size() > width)
      break;
    shown[i] = true;
    used += fields[i].text.size();
  }
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i)
    if (shown[i])
      line += fields[i].text;
  return line.substr(0, width);
}

/// "[####......] "
static std::string cells(int width, int64_t step, int64_t lastStep) {
  int filled =
      lastStep > 0 ? int(double(width) * double(step) / lastStep) : width;
  std::string text(size_t(std::min(filled, width)), '#');
  text.resize(size_t(width), '.');
  return "[" + text + "] ";
}

void Progress::bar(const StepReport &report) {
  // Draw at most 20 times per second: drawing costs more than a small step.
  auto now = std::chrono::steady_clock::now();
  bool last = report.step == lastStep;
  if (barOpen && !last && now - barDrawn < std::chrono::milliseconds(50))
    return;
  barDrawn = now;
  // The last column stays free: writing to it wraps on some terminals.
  const size_t width = size_t(std::max(terminalColumns() - 1, 1));
  std::vector<ProgressField> shown = fields(report);
  shown.insert(shown.begin(), {cells(10, report.step, lastStep), 2});
  std::string line = fitFields(shown, width);
  if (line.size() + 10 <= width) {
    shown[0].text = cells(20, report.step, lastStep);
    line = fitFields(shown, width);
  }
  std::printf("\r\033[K%s", line.c_str());
  flushOutput();
  barOpen = true;
}
