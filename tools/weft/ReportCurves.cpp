//===- ReportCurves.cpp - What a run measured, and its flags --------------===//

#include "ReportPage.h"

#include "weft/Base/Text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace weft;

std::string weft::missing(const std::string &what, const std::string &remedy) {
  return "<p class=\"missing\">" + htmlText(what) + ": " + htmlText(remedy) +
         ".</p>\n";
}

std::string HtmlTable::str() const {
  auto isNumber = [&](size_t column) {
    return column < titles.size() && titles[column].rfind('>', 0) == 0;
  };
  std::string out = "<div class=\"wide\"><table>\n<tr>";
  for (size_t i = 0; i < titles.size(); ++i)
    out += (isNumber(i) ? "<th class=\"n\">" + htmlText(titles[i].substr(1))
                        : "<th>" + htmlText(titles[i])) +
           "</th>";
  out += "</tr>\n";
  for (const std::vector<std::string> &row : rows) {
    out += "<tr>";
    for (size_t i = 0; i < row.size(); ++i)
      out += (isNumber(i) ? "<td class=\"n\">" : "<td>") + htmlText(row[i]) +
             "</td>";
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

//===----------------------------------------------------------------------===//
// Curves
//===----------------------------------------------------------------------===//

/// Adds the value of a line. A null is a gap.
static void addPoint(ChartSeries &series, const Json &line, const Json &value) {
  series.points.emplace_back(double(line.find("step")->asInt()),
                             value.isNumber()
                                 ? value.asDouble()
                                 : std::numeric_limits<double>::quiet_NaN());
}

/// The values of a field by step; a line without the field is
/// left out.
static ChartSeries seriesOf(const std::vector<Json> &lines,
                            const std::string &field, const std::string &name) {
  ChartSeries series;
  series.name = name;
  for (const Json &line : lines)
    if (const Json *value = line.find(field))
      addPoint(series, line, *value);
  return series;
}

static bool hasValues(const ChartSeries &series) {
  return std::any_of(
      series.points.begin(), series.points.end(),
      [](const auto &point) { return std::isfinite(point.second); });
}

static std::vector<double> skippedSteps(const RunMetrics &metrics) {
  std::vector<double> steps;
  for (const Json &line : metrics.steps)
    if (const Json *skipped = line.find("skipped");
        skipped && skipped->asBool())
      steps.push_back(double(line.find("step")->asInt()));
  return steps;
}

static std::string drawLoss(const RunMetrics &metrics) {
  Chart chart;
  chart.title = "Loss";
  chart.xTitle = "step";
  ChartSeries training = seriesOf(metrics.steps, "loss", "loss");
  ChartSeries validation =
      seriesOf(metrics.evaluations, "val_loss", "val_loss");
  const bool hasValidation = hasValues(validation);
  if (!training.points.empty())
    chart.series.push_back(std::move(training));
  if (hasValidation)
    chart.series.push_back(std::move(validation));
  return drawChart(chart);
}

/// The chart of one field; "" if it has no values.
static std::string drawField(const RunMetrics &metrics, const char *field,
                             const std::string &title, bool startsAtZero,
                             ChartUnit unit = ChartUnit::Number) {
  Chart chart;
  chart.title = title;
  chart.xTitle = "step";
  chart.unit = unit;
  chart.startsAtZero = startsAtZero;
  chart.series.push_back(seriesOf(metrics.steps, field, field));
  return hasValues(chart.series[0]) ? drawChart(chart) : "";
}

/// The values of a member of the object `field`, by step.
static ChartSeries memberSeries(const std::vector<Json> &lines,
                                const std::string &field,
                                const std::string &member,
                                const std::string &name) {
  ChartSeries series;
  series.name = name;
  for (const Json &line : lines)
    if (const Json *values = line.find(field))
      if (const Json *value = values->find(member))
        addPoint(series, line, *value);
  return series;
}

/// The metrics that lines have, in the order of the first line with some.
static std::vector<std::string> metricNames(const std::vector<Json> &lines,
                                            const std::string &field) {
  std::vector<std::string> names;
  for (const Json &line : lines)
    if (const Json *values = line.find(field); values && names.empty())
      for (const JsonMember &member : values->asObject())
        names.push_back(member.name);
  return names;
}

/// A chart for each metric of the model, of steps and evaluations.
static std::string drawMetrics(const RunMetrics &metrics) {
  std::string out;
  std::vector<std::string> names = metricNames(metrics.steps, "metrics");
  if (names.empty())
    names = metricNames(metrics.evaluations, "val_metrics");
  for (const std::string &name : names) {
    Chart chart;
    chart.title = name;
    chart.xTitle = "step";
    for (ChartSeries &series :
         std::array{memberSeries(metrics.steps, "metrics", name, name),
                    memberSeries(metrics.evaluations, "val_metrics", name,
                                 "val " + name)})
      if (hasValues(series))
        chart.series.push_back(std::move(series));
    if (!chart.series.empty())
      out += drawChart(chart);
  }
  return out;
}

static bool hasScaler(const RunMetrics &metrics) {
  const Json *scaler = metrics.header.find("scaler");
  return scaler && !scaler->isNull();
}

static std::string drawScale(const RunMetrics &metrics) {
  Chart chart;
  chart.title = "Loss scale, and skipped steps as lines";
  chart.xTitle = "step";
  chart.isStepwise = true;
  chart.startsAtZero = true;
  chart.series.push_back(seriesOf(metrics.steps, "loss_scale", "loss_scale"));
  chart.marks = skippedSteps(metrics);
  return hasValues(chart.series[0]) ? drawChart(chart) : "";
}

static std::string skippedText(const RunMetrics &metrics) {
  std::string text;
  const std::vector<double> steps = skippedSteps(metrics);
  for (size_t i = 0; i < steps.size() && i < 20; ++i)
    text += (i ? ", " : "") + numberText(steps[i], 15);
  if (steps.empty())
    return "<p>No step was skipped.</p>\n";
  return "<p>Skipped steps, " + std::to_string(steps.size()) + ": " + text +
         (steps.size() > 20 ? ", ..." : "") + ".</p>\n";
}

static std::string rateTitle(const RunMetrics &metrics) {
  return metrics.header.find("seq") ? "Tokens per second" : "Rows per second";
}

/// A sentence for each curve that the run did not record.
static std::string missingCurves(const RunMetrics &metrics) {
  std::string out;
  if (!hasValues(seriesOf(metrics.evaluations, "val_loss", "")))
    out += missing("No validation loss",
                   "a run with --val-data FILE or --val-fraction X, and "
                   "--eval-every N, records it");
  if (!metrics.steps.empty() &&
      !hasValues(seriesOf(metrics.steps, "grad_norm", "")))
    out += missing("No norm of the gradients",
                   "a program compiled with --clip-norm=2 records it");
  if (!hasScaler(metrics))
    out +=
        missing("No loss scale", "a program compiled with --precision=f16 or "
                                 "--loss-scale=dynamic has one");
  if (metrics.tornLine)
    out += missing("Line " + std::to_string(metrics.tornLine) +
                       " of the metrics is torn",
                   "it is left out");
  return out;
}

std::string weft::drawCurves(const RunFacts &run) {
  const std::string head = "<h2 id=\"curves\">Training</h2>\n";
  if (!run.metrics && !run.lostMetrics.empty())
    return head +
           missing("The metrics " + run.lostMetrics + " of the run are missing",
                   "--metrics FILE names their new place");
  if (!run.metrics)
    return head +
           missing("No curves", "a run with --metrics FILE records them");
  const RunMetrics &metrics = *run.metrics;
  if (metrics.steps.empty() && metrics.evaluations.empty())
    return head + missing("No curves", "the run has not finished a step yet");
  std::string out = head + "<div class=\"charts\">\n" + drawLoss(metrics) +
                    drawMetrics(metrics);
  out += drawField(metrics, "lr", "Learning rate", /*startsAtZero=*/true);
  out += drawField(metrics, "grad_norm", "Norm of the gradients",
                   /*startsAtZero=*/true);
  if (hasScaler(metrics))
    out += drawScale(metrics);
  out += drawField(metrics, "tokens_per_s", rateTitle(metrics),
                   /*startsAtZero=*/true);
  out += drawField(metrics, "comm_ms", "Exposed collectives in ms",
                   /*startsAtZero=*/true);
  out += drawField(metrics, "mem_bytes", "Most memory of the process",
                   /*startsAtZero=*/true, ChartUnit::Bytes);
  return out + "</div>\n" + skippedText(metrics) + missingCurves(metrics);
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

static std::string drawPairs(const std::string &title, const Settings &pairs,
                             const std::string &prefix) {
  HtmlTable table;
  table.titles = {title, "value"};
  for (const auto &[name, value] : pairs)
    table.rows.push_back({prefix + name, value});
  return pairs.empty() ? "" : table.str();
}

/// The first line of the metrics.
static Settings headerSettings(const Json &header) {
  Settings settings;
  for (const JsonMember &member : header.asObject())
    settings.emplace_back(member.name, member.value.isString()
                                           ? member.value.asString()
                                           : member.value.compact());
  return settings;
}

std::string weft::drawSettings(const RunFacts &run) {
  std::string out = "<h2 id=\"flags\">Flags</h2>\n<div class=\"tables\">\n";
  if (run.record) {
    out += drawPairs("run flag", run.record->flags, "--");
    out += drawPairs("compiled with", run.record->program, "--");
    out += drawPairs("device", run.record->device, "");
  }
  if (run.metrics)
    out += drawPairs("run, as the metrics describe it",
                     headerSettings(run.metrics->header), "");
  out += "</div>\n";
  if (!run.record)
    out += missing("Not all flags",
                   "a run with --save-dir DIR records them, and weft report "
                   "DIR shows them");
  return out;
}
