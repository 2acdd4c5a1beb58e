//===- ReportPage.cpp - The page of weft report ---------------------------===//

#include "ReportPage.h"

#include "weft/Base/Text.h"

#include <algorithm>
#include <cmath>

using namespace weft;

static const char kStyle[] = R"(
:root { --ink: #1c2330; --dim: #5c6675; --rule: #d8dde5; --paper: #fff;
  --c0: #2563eb; --c1: #d9480f; --c2: #0f8a5f; --c3: #8b3fc7; --bad: #c92a2a; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ef; --dim: #9aa5b5; --rule: #39424f; --paper: #161b22;
    --c0: #79a8ff; --c1: #ff9b6b; --c2: #4fcf9f; --c3: #cf9bff; --bad: #ff8080; }
}
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; color: var(--ink);
  background: var(--paper); max-width: 1200px; margin: 0 auto; padding: 16px 20px; }
h1 { font-size: 1.5em; margin: 0 0 .2em; } h2 { font-size: 1.15em; margin: 2em 0 .6em;
  border-bottom: 1px solid var(--rule); padding-bottom: .2em; }
nav a { margin-right: 1em; } a { color: var(--c0); }
.facts { display: flex; flex-wrap: wrap; gap: 8px 32px; margin: 1em 0; }
.facts div { display: flex; flex-direction: column; }
.facts b { font-size: 1.2em; } .facts span, .missing { color: var(--dim); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 500px), 1fr));
  gap: 16px 24px; align-items: start; }
.tables { display: flex; flex-wrap: wrap; gap: 16px 40px; align-items: flex-start; }
figure { margin: 0; } figcaption { font-weight: 600; min-height: 1.5em; }
figcaption output { font-weight: 400; color: var(--dim); float: right; font-size: .9em; }
svg { width: 100%; height: auto; display: block; }
svg text { font-size: 12px; fill: var(--dim); }
.timeline { overflow-x: auto; } .timeline svg { min-width: 760px; }
.grid { stroke: var(--rule); stroke-width: 1; } .axis { stroke: var(--dim); }
.mark { stroke: var(--bad); stroke-dasharray: 3 3; } .cursor { stroke: var(--dim); }
.curve { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.curve.s0 { stroke: var(--c0); } .curve.s1 { stroke: var(--c1); }
.curve.s2 { stroke: var(--c2); } .curve.s3 { stroke: var(--c3); }
.dot.s0 { fill: var(--c0); } .dot.s1 { fill: var(--c1); }
.dot.s2 { fill: var(--c2); } .dot.s3 { fill: var(--c3); }
.key { font-weight: 400; margin-left: .8em; }
.key::before { content: ""; display: inline-block; width: .8em; height: .8em;
  margin-right: .35em; border-radius: 2px; background: var(--c0); }
.key.k1::before, .key.library::before { background: var(--c1); }
.key.k2::before, .key.collective::before { background: var(--c2); }
.key.k3::before { background: var(--c3); } .key.event::before { background: var(--dim); }
.generated { fill: var(--c0); } .library { fill: var(--c1); }
.collective { fill: var(--c2); } .event { fill: var(--dim); }
rect:hover { stroke: var(--ink); }
.wide { overflow-x: auto; } pre { overflow-x: auto; margin: 0; font-size: 13px; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 2px 14px 2px 0; border-bottom: 1px solid var(--rule);
  vertical-align: top; overflow-wrap: anywhere; }
.n { text-align: right; white-space: nowrap; } th { color: var(--dim); font-weight: 600; }
)";

/// Shows the values of the nearest points under the pointer.
static const char kScript[] = R"(
const bytes = n => { let i = 0; for (; n >= 1024 && i < 4; i++) n /= 1024;
  return n.toPrecision(4) + " " + ["B", "KiB", "MiB", "GiB", "TiB"][i]; };
document.querySelectorAll("figure.chart").forEach(figure => {
  const svg = figure.querySelector("svg"), out = figure.querySelector("output");
  const cursor = figure.querySelector(".cursor");
  const data = JSON.parse(figure.querySelector("script").textContent);
  const text = n => n === null ? "not finite" : data.bytes ? bytes(n) : +n.toPrecision(6);
  const [x0, x1] = data.range, [p0, p1] = data.place;
  svg.addEventListener("pointermove", event => {
    const box = svg.getBoundingClientRect();
    const at = x0 + ((event.clientX - box.left) / box.width * data.width - p0) / (p1 - p0) * (x1 - x0);
    const near = data.series.map(s => s.points.reduce((a, b) =>
      Math.abs(b[0] - at) < Math.abs(a[0] - at) ? b : a));
    const x = p0 + (near[0][0] - x0) / (x1 - x0) * (p1 - p0);
    cursor.setAttribute("x1", x); cursor.setAttribute("x2", x);
    out.textContent = data.series.map((s, i) => data.x_title + " " + +near[i][0].toPrecision(6) +
      ": " + s.name + " " + text(near[i][1])).join(", ");
  });
  svg.addEventListener("pointerleave", () => {
    out.textContent = ""; cursor.setAttribute("x1", -9); cursor.setAttribute("x2", -9);
  });
});
)";

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

static std::string fact(const std::string &name, const std::string &value) {
  return value.empty() ? ""
                       : "<div><span>" + htmlText(name) + "</span><b>" +
                             htmlText(value) + "</b></div>\n";
}

std::string weft::reportText(const Json &json, const char *field) {
  const Json *value = json.find(field);
  if (!value || value->isNull())
    return "";
  return value->isString() ? value->asString() : value->compact();
}

static std::vector<double> valuesOf(const std::vector<Json> &lines,
                                    const char *field) {
  std::vector<double> values;
  for (const Json &line : lines)
    if (const Json *value = line.find(field); value && value->isNumber())
      values.push_back(value->asDouble());
  return values;
}

static std::string lastOf(const std::vector<double> &values) {
  return values.empty() ? "" : numberText(values.back(), 5);
}

static std::string leastOf(const std::vector<double> &values) {
  return values.empty()
             ? ""
             : numberText(*std::min_element(values.begin(), values.end()), 5);
}

static std::string medianOf(std::vector<double> values, const char *unit) {
  if (values.empty())
    return "";
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  // Four digits without an exponent: a thousandth of the number is enough.
  const double power = std::pow(10, std::floor(std::log10(*middle)) - 3);
  const double rounded =
      *middle > 0 ? std::round(*middle / power) * power : *middle;
  return numberText(rounded, 9) + unit;
}

static std::string drawFacts(const RunMetrics &metrics) {
  const Json &head = metrics.header;
  std::string out = fact("target", reportText(head, "target")) +
                    fact("precision", reportText(head, "precision")) +
                    fact("parameters", reportText(head, "parameters")) +
                    fact("ranks", reportText(head, "ranks")) +
                    fact("batch", reportText(head, "batch"));
  if (!metrics.steps.empty())
    out += fact("last step", reportText(metrics.steps.back(), "step"));
  out += fact("last loss", lastOf(valuesOf(metrics.steps, "loss")));
  out += fact("least val_loss",
              leastOf(valuesOf(metrics.evaluations, "val_loss")));
  out +=
      fact("median step", medianOf(valuesOf(metrics.steps, "step_ms"), " ms"));
  return out + fact(head.find("seq") ? "median tokens/s" : "median rows/s",
                    medianOf(valuesOf(metrics.steps, "tokens_per_s"), ""));
}

static std::string modelOf(const RunFacts &run,
                           const ReportedProgram *program) {
  std::string name;
  if (run.metrics)
    name = reportText(run.metrics->header, "model");
  if (name.empty() && program)
    name = reportText(program->meta, "name");
  return name.empty() ? "Run" : name;
}

std::string weft::drawPage(const RunFacts &run,
                           const ReportedProgram *program) {
  const std::string title = htmlText(modelOf(run, program) + ": " + run.name);
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                    "<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, "
                    "initial-scale=1\">\n<title>" +
                    title + "</title>\n<style>" + kStyle +
                    "</style>\n</head>\n<body>\n<h1>" + title + "</h1>\n";
  out += "<nav><a href=\"#curves\">Training</a><a href=\"#memory\">Memory</a>"
         "<a href=\"#step\">Timeline</a><a href=\"#kernels\">Commands</a>"
         "<a href=\"#sharding\">Sharding</a><a href=\"#flags\">Flags</a></nav>"
         "\n<div class=\"facts\">\n";
  if (run.metrics)
    out += drawFacts(*run.metrics);
  if (run.savedStep)
    out += fact("saved step", std::to_string(*run.savedStep));
  out += "</div>\n" + drawCurves(run) + drawMemory(program) +
         drawStep(program) + drawKernels(program) + drawSharding(program) +
         drawSettings(run);
  return out + "<script>" + kScript + "</script>\n</body>\n</html>\n";
}
