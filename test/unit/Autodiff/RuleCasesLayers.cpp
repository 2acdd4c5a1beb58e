//===- RuleCasesLayers.cpp - Layers and losses, one op each ---------------===//

#include "RuleCases.h"

namespace weft::test {

static void addMatmul(std::vector<RuleCase> &cases) {
  struct Form {
    const char *lhs, *rhs, *attrs, *result;
  };
  const Form forms[] = {
      {"3x4", "4x2", "", "3x2"},
      {"3x4", "2x4", "{transpose_rhs}", "3x2"},
      {"4x3", "4x2", "{transpose_lhs}", "3x2"},
      {"4x3", "2x4", "{transpose_lhs, transpose_rhs}", "3x2"},
      // Equal batches.
      {"2x3x4", "2x4x2", "", "2x3x2"},
      {"2x3x4", "2x2x4", "{transpose_rhs}", "2x3x2"},
      {"2x4x3", "2x4x2", "{transpose_lhs}", "2x3x2"},
      {"2x4x3", "2x2x4", "{transpose_lhs, transpose_rhs}", "2x3x2"},
      {"2x2x3x4", "2x2x4x2", "", "2x2x3x2"},
      // A shared right side: a linear layer.
      {"2x3x4", "4x2", "", "2x3x2"},
      {"2x3x4", "2x4", "{transpose_rhs}", "2x3x2"},
      {"2x4x3", "4x2", "{transpose_lhs}", "2x3x2"},
      {"2x4x3", "2x4", "{transpose_lhs, transpose_rhs}", "2x3x2"},
      // A shared left side.
      {"3x4", "2x4x2", "", "2x3x2"},
      {"3x4", "2x2x4", "{transpose_rhs}", "2x3x2"},
      {"4x3", "2x4x2", "{transpose_lhs}", "2x3x2"},
      {"4x3", "2x2x4", "{transpose_lhs, transpose_rhs}", "2x3x2"},
  };
  for (const Form &form : forms)
    cases.push_back({"weft.matmul",
                     std::string(form.lhs) + " by " + form.rhs + form.attrs,
                     {{"a", form.lhs}, {"b", form.rhs}},
                     std::string("%y = weft.matmul %a, %b ") + form.attrs +
                         " : " + tensor(form.lhs) + ", " + tensor(form.rhs),
                     form.result});
}

/// Linear layers: shared and batched weights, and low-precision operands, which
/// the interpreter does not round in its f64 mode.
static void addLinear(std::vector<RuleCase> &cases) {
  struct Form {
    const char *lhs, *rhs, *attrs, *bias, *result;
  };
  const Form forms[] = {
      {"3x4", "4x2", "", "2", "3x2"},
      {"3x4", "2x4", "transpose_rhs", "2", "3x2"},
      {"2x3x4", "2x4", "transpose_rhs", "2", "2x3x2"},
      {"2x2x3x4", "2x2x4x2", "", "2", "2x2x3x2"},
      {"4x3", "2x4x5", "transpose_lhs", "5", "2x3x5"},
      {"1x4", "4x1", "", "1", "1x1"},
  };
  for (const Form &form : forms)
    for (const char *element : {"f64", "f16"}) {
      auto low = [&](const char *name, const char *shape) {
        return std::string("%") + name + "_low = weft.cast %" + name + " : " +
               tensor(shape) + " to " + tensor(shape, element) + "\n  ";
      };
      std::string casts =
          low("a", form.lhs) + low("b", form.rhs) + low("c", form.bias);
      std::string product = std::string("weft.matmul %a_low, %b_low bias "
                                        "%c_low : ") +
                            tensor(form.bias, element) + " {" + form.attrs +
                            "} : " + tensor(form.lhs, element) + ", " +
                            tensor(form.rhs, element);
      std::string type = tensor(form.result, element);
      cases.push_back({"weft.matmul",
                       std::string(form.lhs) + " by " + form.rhs + " in " +
                           element + " with bias, " + form.attrs,
                       {{"a", form.lhs}, {"b", form.rhs}, {"c", form.bias}},
                       casts + "%p = " + product + "\n  %y = weft.cast %p : " +
                           type + " to " + tensor(form.result),
                       form.result});
    }
}

static void addAttention(std::vector<RuleCase> &cases) {
  struct Form {
    const char *query, *key, *attrs;
    const char *ids = "", *idShape = "";

    std::string constant() const {
      return *ids ? std::string("%ids = weft.constant dense<") + ids +
                        "> : " + tensor(idShape, "i32") + "\n  "
                  : "";
    }
    std::string operand() const {
      return *ids ? " segments %ids : " + tensor(idShape, "i32") : "";
    }
  };
  const Form forms[] = {
      {"2x3x2x4", "2x3x2x4", "causal, scale = 0.5 : f64"},
      {"1x4x4x2", "1x4x2x2", "causal, scale = 0.7 : f64"},
      {"2x2x2x2", "2x5x1x2", "scale = 1.0 : f64"},
      {"1x2x1x3", "1x4x1x3", "causal, scale = 0.3 : f64"},
      {"2x3x2x2", "2x3x1x2",
       "causal, scale = 0.5 : f64, dropout = 0.3 : f64, op_id = 4"},
      {"1x5x2x2", "1x5x1x2", "causal, scale = 0.5 : f64, window = 2 : i64"},
      {"1x2x1x3", "1x4x1x3", "causal, scale = 0.5 : f64, window = 3 : i64"},
      {"1x5x2x2", "1x5x2x2", "scale = 0.5 : f64, window = 2 : i64"},
      {"2x3x2x4", "2x3x2x4", "causal, scale = 0.5 : f64, softcap = 0.8 : f64"},
      {"2x4x2x2", "2x4x1x2",
       "causal, scale = 0.7 : f64, softcap = 1.5 : f64, window = 3 : i64",
       "[[2, 2, 5, 5], [0, 1, 0, 1]]", "2x4"},
  };
  for (const Form &form : forms)
    cases.push_back(
        {"weft.attention",
         std::string(form.query) + " on " + form.key + ", " + form.attrs,
         {{"q", form.query, -2, 2},
          {"k", form.key, -2, 2},
          {"v", form.key, -2, 2}},
         form.constant() + "%y, %lse = weft.attention %q, %k, %v" +
             form.operand() + " {" + form.attrs + "} : " + tensor(form.query) +
             ", " + tensor(form.key) + ", " + tensor(form.key),
         form.query});
}

static void addEmbedding(std::vector<RuleCase> &cases) {
  const char *forms[][4] = {{"5x3", "4", "[0, 3, 3, 1]", "4x3"},
                            {"4x2", "2x3", "[[0, 1, 1], [3, 1, 0]]", "2x3x2"},
                            {"3x1", "1x1x2", "[[[2, 2]]]", "1x1x2x1"}};
  for (auto &form : forms)
    cases.push_back({"weft.embedding",
                     std::string(form[0]) + " at " + form[1],
                     {{"table", form[0]}},
                     std::string("%ids = weft.constant dense<") + form[2] +
                         "> : " + tensor(form[1], "i32") +
                         "\n  %y = weft.embedding %table, %ids : " +
                         tensor(form[0]) + ", " + tensor(form[1], "i32"),
                     form[3]});
}

/// softmax, log_softmax, norms: over several shapes.
static void addRows(std::vector<RuleCase> &cases) {
  const char *dims[][2] = {
      {"5", ""}, {"3x4", ""}, {"2x3x4", "{dim = 1}"}, {"2x3", "{dim = -2}"}};
  for (const char *name : {"softmax", "log_softmax"})
    for (auto &form : dims)
      cases.push_back({std::string("weft.") + name,
                       std::string(form[0]) + form[1],
                       {{"x", form[0], -2, 2}},
                       std::string("%y = weft.") + name + " %x " + form[1] +
                           " : " + tensor(form[0]),
                       form[0]});
  const char *norms[][2] = {{"3x4", "4"}, {"2x3x5", "5"}, {"2x2x2x3", "3"}};
  for (auto &form : norms) {
    std::string types = " : " + tensor(form[0]) + ", " + tensor(form[1]);
    cases.push_back({"weft.layer_norm",
                     form[0],
                     {{"x", form[0]}, {"w", form[1]}, {"b", form[1]}},
                     "%y, %mean, %rstd = weft.layer_norm %x, %w, %b {eps = "
                     "1.0e-2 : f64}" +
                         types,
                     form[0]});
    cases.push_back(
        {"weft.rms_norm",
         form[0],
         {{"x", form[0]}, {"w", form[1]}},
         "%y, %rstd = weft.rms_norm %x, %w {eps = 1.0e-2 : f64}" + types,
         form[0]});
  }
}

/// dropout, and layers that are nearly always dropped, nearly never, and
/// neither.
static void addDrops(std::vector<RuleCase> &cases) {
  for (const char *shape : {"8", "3x4", "2x3x4"})
    cases.push_back(
        {"weft.dropout",
         shape,
         {{"x", shape}},
         "%y = weft.dropout %x {p = 0.4 : f64, op_id = 2} : " + tensor(shape),
         shape});
  const char *drops[][2] = {{"8", "0.999"}, {"3x4", "0.001"}, {"2x3", "0.5"}};
  for (auto &form : drops)
    cases.push_back({"weft.layer_drop",
                     std::string(form[0]) + ", p = " + form[1],
                     {{"x", form[0]}, {"f", form[0]}},
                     std::string("%y, %d = weft.layer_drop %x, %f {p = ") +
                         form[1] + " : f64, op_id = 2} : " + tensor(form[0]),
                     form[0]});
}

/// f32 factors beside low-precision operands, in the low-precision form.
static void addFactors(std::vector<RuleCase> &cases) {
  const char *norms[][2] = {{"3x4", "4"}, {"2x3x5", "5"}, {"2x2x2x3", "3"}};
  for (auto &form : norms) {
    RuleParam w{"w", form[1], -1, 1, true, /*staysWide=*/true}, b = w;
    b.name = "b";
    std::string types = " {eps = 1.0e-2 : f64} : " + tensor(form[0]) + ", " +
                        tensor(form[1], kWide);
    cases.push_back({"weft.layer_norm",
                     std::string(form[0]) + " with f32 factors",
                     {{"x", form[0]}, w, b},
                     "%y, %mean, %rstd = weft.layer_norm %x, %w, %b" + types,
                     form[0]});
    cases.push_back({"weft.rms_norm",
                     std::string(form[0]) + " with f32 factors",
                     {{"x", form[0]}, w},
                     "%y, %rstd = weft.rms_norm %x, %w" + types,
                     form[0]});
  }
  const char *ropes[][2] = {
      {"1x3x2x4", "3x2"}, {"2x2x1x2", "2x1"}, {"2x3x2x6", "3x3"}};
  for (auto &form : ropes)
    cases.push_back({"weft.rope",
                     std::string(form[0]) + " with f32 tables",
                     {{"x", form[0]},
                      {"c", form[1], -1, 1, false, /*staysWide=*/true},
                      {"s", form[1], -1, 1, false, /*staysWide=*/true}},
                     "%y = weft.rope %x, %c, %s : " + tensor(form[0]) + ", " +
                         tensor(form[1], kWide),
                     form[0]});
}

static void addRope(std::vector<RuleCase> &cases) {
  const char *forms[][2] = {
      {"1x3x2x4", "3x2"}, {"2x2x1x2", "2x1"}, {"2x3x2x6", "3x3"}};
  for (auto &form : forms)
    cases.push_back({"weft.rope",
                     form[0],
                     {{"x", form[0]},
                      {"c", form[1], -1, 1, false},
                      {"s", form[1], -1, 1, false}},
                     "%y = weft.rope %x, %c, %s : " + tensor(form[0]) + ", " +
                         tensor(form[1]),
                     form[0]});
}

static void addCrossEntropy(std::vector<RuleCase> &cases) {
  struct Form {
    const char *logits, *targetShape, *targets, *attrs;
    bool weighted;
  };
  const Form forms[] = {
      {"3x4", "3", "[1, 0, 3]", "", false},
      {"2x2x3", "2x2", "[[0, -100], [2, 1]]", "", false},
      {"4x5", "4", "[1, 0, 7, 4]", "{ignore_index = 7}", true},
      {"4x3", "4", "[1, 0, -100, 2]", "{label_smoothing = 0.1 : f64}", true},
      {"3x4", "3", "[1, -100, 3]",
       "{label_smoothing = 0.2 : f64, reduction = #weft.loss_reduction<sum>}",
       false},
  };
  for (const Form &form : forms) {
    std::string logits = form.logits;
    std::string classes = logits.substr(logits.rfind('x') + 1);
    RuleCase single{"weft.cross_entropy",
                    logits + form.attrs,
                    {{"x", logits, -2, 2}},
                    "",
                    ""};
    if (form.weighted)
      single.params.push_back(
          {"w", classes, 0.5, 2, false, /*staysWide=*/true});
    single.body =
        std::string("%t = weft.constant dense<") + form.targets +
        "> : " + tensor(form.targetShape, "i32") +
        "\n  %y, %lse, %denom = weft.cross_entropy %x, %t " +
        (form.weighted ? "weight %w : " + tensor(classes, kWide) + " " : "") +
        form.attrs + " : " + tensor(logits) + ", " +
        tensor(form.targetShape, "i32");
    cases.push_back(single);
  }
}

static void addPairLosses(std::vector<RuleCase> &cases) {
  for (const char *name : {"mse", "bce_with_logits"})
    for (const char *attrs : {"", "{reduction = #weft.loss_reduction<sum>}"})
      for (const char *shape : {"5", "3x4", "2x1x3"})
        cases.push_back({std::string("weft.") + name,
                         std::string(shape) + attrs,
                         {{"a", shape, -2, 2}, {"b", shape, 0, 1}},
                         std::string("%y = weft.") + name + " %a, %b " + attrs +
                             " : " + tensor(shape),
                         ""});
  for (const char *attrs : {"", "{reduction = #weft.loss_reduction<sum>}"})
    for (const char *shape : {"5", "3x4", "2x1x3"})
      cases.push_back(
          {"weft.bce",
           std::string(shape) + attrs,
           {{"a", shape, 0.1, 0.9}, {"b", shape, 0, 1}},
           std::string("%y = weft.bce %a, %b ") + attrs + " : " + tensor(shape),
           ""});
}

std::vector<RuleCase> layerCases() {
  std::vector<RuleCase> cases;
  addMatmul(cases);
  addLinear(cases);
  addAttention(cases);
  addEmbedding(cases);
  addRows(cases);
  addDrops(cases);
  addRope(cases);
  addFactors(cases);
  addCrossEntropy(cases);
  addPairLosses(cases);
  return cases;
}

} // namespace weft::test
