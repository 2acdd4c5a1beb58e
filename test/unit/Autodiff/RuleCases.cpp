//===- RuleCases.cpp - Small programs, one differentiable op each ---------===//

#include "RuleCases.h"

namespace weft::test {

std::string tensor(const std::string &shape, const std::string &element) {
  return "tensor<" + shape + (shape.empty() ? "" : "x") + element + ">";
}

static std::vector<int> sizes(const std::string &shape) {
  std::vector<int> result;
  for (size_t at = 0; at != std::string::npos && !shape.empty();) {
    result.push_back(std::stoi(shape.substr(at)));
    at = shape.find('x', at);
    at = at == std::string::npos ? at : at + 1;
  }
  return result;
}

static std::string sumByReduce(const std::string &shape,
                               const std::string &element = "f64") {
  std::string dims;
  for (size_t dim = 0; dim < sizes(shape).size(); ++dim)
    dims += (dim ? ", " : "") + std::to_string(dim);
  return "  %loss = weft.reduce sum %product dims [" + dims +
         "] : " + tensor(shape, element) + "\n";
}

/// For tests of reduce itself: a rule that is broken twice would look right.
static std::string sumByProduct(const std::string &shape) {
  int count = 1;
  for (int size : sizes(shape))
    count *= size;
  std::string column = tensor(std::to_string(count) + "x1");
  std::string row = tensor("1x" + std::to_string(count));
  return "  %column = weft.reshape %product : " + tensor(shape) + " to " +
         column + "\n  %ones = weft.constant dense<1.0> : " + row +
         "\n  %sum = weft.matmul %ones, %column : " + row + ", " + column +
         "\n  %loss = weft.reshape %sum : " + tensor("1x1") + " to " +
         tensor("") + "\n";
}

static void replaceAll(std::string &text, const std::string &from,
                       const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
}

std::string RuleCase::lowText(const std::string &low) const {
  std::string module, reads, f32 = "f32";
  auto declare = [&](const RuleParam &param) {
    std::string wide = tensor(param.shape, f32);
    module += "weft.param @" + param.name + " : " + wide +
              " {init = #weft.init<uniform, " + std::to_string(param.low) +
              ", " + std::to_string(param.high) +
              ">, trainable = " + (param.trainable ? "true" : "false") + "}\n";
    std::string name = param.name + (param.staysWide ? "" : "_wide");
    reads += "  %" + name + " = weft.read @" + param.name + " : " + wide + "\n";
    if (!param.staysWide)
      reads += "  %" + param.name + " = weft.cast %" + name + " : " + wide +
               " to " + tensor(param.shape, low) + "\n";
  };
  for (const RuleParam &param : params)
    declare(param);
  declare({"weights", resultShape, -1, 1, false, /*staysWide=*/true});
  std::string code = body, wide = tensor(resultShape, f32), y = "%y";
  replaceAll(code, "f64>", low + ">");
  replaceAll(code, std::string(kWide) + ">", f32 + ">");
  bool isLoss = op == "weft.cross_entropy" || op == "weft.mse" ||
                op.substr(0, 8) == "weft.bce";
  if (!isLoss) {
    code += "\n  %y_wide = weft.cast %y : " + tensor(resultShape, low) +
            " to " + wide;
    y = "%y_wide";
  }
  std::string loss = "  %product = weft.mul " + y + ", %weights : " + wide +
                     ", " + wide + "\n";
  if (!resultShape.empty())
    loss += sumByReduce(resultShape, f32);
  return module +
         "weft.program @model() -> (tensor<f32> {weft.output = \"loss\"})\n"
         "    attributes {kind = #weft.kind<model>} {\n" +
         reads + "  " + code + "\n" + loss + "  weft.return " +
         (resultShape.empty() ? "%product" : "%loss") + " : tensor<f32>\n}\n";
}

std::string RuleCase::text() const {
  std::string module, reads;
  auto declare = [&](const RuleParam &param) {
    module += "weft.param @" + param.name + " : " + tensor(param.shape) +
              " {init = #weft.init<uniform, " + std::to_string(param.low) +
              ", " + std::to_string(param.high) +
              ">, trainable = " + (param.trainable ? "true" : "false") + "}\n";
    reads += "  %" + param.name + " = weft.read @" + param.name + " : " +
             tensor(param.shape) + "\n";
  };
  for (const RuleParam &param : params)
    declare(param);
  declare({"weights", resultShape, -1, 1, false});
  std::string type = tensor(resultShape), code = body;
  replaceAll(code, std::string(kWide) + ">", "f64>");
  std::string loss =
      "  %product = weft.mul %y, %weights : " + type + ", " + type + "\n";
  if (!resultShape.empty())
    loss += op == "weft.reduce" ? sumByProduct(resultShape)
                                : sumByReduce(resultShape);
  return module +
         "weft.program @model() -> (tensor<f64> {weft.output = \"loss\"})\n"
         "    attributes {kind = #weft.kind<model>} {\n" +
         reads + "  " + code + "\n" + loss + "  weft.return " +
         (resultShape.empty() ? "%product" : "%loss") + " : tensor<f64>\n}\n";
}

std::vector<RuleCase> ruleCases() {
  std::vector<RuleCase> all = elementwiseCases();
  for (auto part : {shapeCases(), layerCases()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static void addUnary(std::vector<RuleCase> &cases, const std::string &name,
                     double low, double high, const std::string &attrs = "") {
  for (const char *shape : {"6", "3x4", "2x3x2", ""})
    cases.push_back(
        {"weft." + name,
         attrs + shape,
         {{"x", shape, low, high}},
         "%y = weft." + name + " %x " + attrs + " : " + tensor(shape),
         shape});
}

static void addBinary(std::vector<RuleCase> &cases, const std::string &name,
                      double low = -1, double high = 1) {
  const char *forms[][3] = {{"3x4", "3x4", "3x4"},     {"3x4", "4", "3x4"},
                            {"3x1", "1x4", "3x4"},     {"2", "3x1x2", "3x1x2"},
                            {"2x1x3", "4x1", "2x4x3"}, {"5", "", "5"}};
  for (auto &form : forms)
    cases.push_back({"weft." + name,
                     std::string(form[0]) + " and " + form[1],
                     {{"a", form[0], low, high}, {"b", form[1], low, high}},
                     "%y = weft." + name + " %a, %b : " + tensor(form[0]) +
                         ", " + tensor(form[1]),
                     form[2]});
}

static void addSelect(std::vector<RuleCase> &cases) {
  const char *forms[][4] = {{"3x4", "3x4", "3x4", "3x4"},
                            {"4", "3x4", "3x1", "3x4"},
                            {"3x1", "4", "", "3x4"}};
  for (auto &form : forms)
    cases.push_back(
        {"weft.select",
         std::string(form[0]) + " and " + form[1] + " and " + form[2],
         {{"c", form[0], -1, 1, false}, {"a", form[1]}, {"b", form[2]}},
         "%zero = weft.constant dense<0.0> : tensor<f64>\n"
         "  %m = weft.compare gt %c, %zero : " +
             tensor(form[0]) +
             ", tensor<f64>\n  %y = weft.select %m, %a, %b : " +
             tensor(form[0], "i1") + ", " + tensor(form[1]) + ", " +
             tensor(form[2]),
         form[3]});
}

/// Through f16 and bf16, which the interpreter does not round in its f64 mode.
/// A cast of a parameter itself would not be asked for its adjoint.
static void addCast(std::vector<RuleCase> &cases) {
  for (const char *shape : {"6", "3x4", ""}) {
    std::string half = tensor(shape, "f16"), brain = tensor(shape, "bf16");
    cases.push_back({"weft.cast",
                     shape,
                     {{"x", shape}},
                     "%n = weft.neg %x : " + tensor(shape) +
                         "\n  %h = weft.cast %n : " + tensor(shape) + " to " +
                         half + "\n  %b = weft.cast %h : " + half + " to " +
                         brain + "\n  %y = weft.cast %b : " + brain + " to " +
                         tensor(shape),
                     shape});
  }
}

std::vector<RuleCase> elementwiseCases() {
  std::vector<RuleCase> cases;
  for (const char *name :
       {"neg", "abs", "exp", "tanh", "erf", "sin", "cos", "sigmoid", "relu",
        "silu", "softplus", "materialize"})
    addUnary(cases, name, -2, 2);
  for (const char *name : {"log", "sqrt", "rsqrt", "reciprocal"})
    addUnary(cases, name, 0.5, 2);
  addUnary(cases, "log1p", -0.5, 2);
  addUnary(cases, "gelu", -3, 3);
  addUnary(cases, "gelu", -3, 3, "{approximate = #weft.gelu_kind<tanh>}");
  for (const char *shape : {"6", "3x4", ""})
    cases.push_back({"weft.sign",
                     shape,
                     {{"x", shape}},
                     "%s = weft.sign %x : " + tensor(shape) +
                         "\n  %y = weft.mul %s, %x : " + tensor(shape) + ", " +
                         tensor(shape),
                     shape});
  for (const char *name : {"add", "sub", "mul", "max", "min"})
    addBinary(cases, name);
  addBinary(cases, "div", 0.5, 2);
  addBinary(cases, "pow", 0.5, 2);
  addSelect(cases);
  addCast(cases);
  return cases;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static void addReduce(std::vector<RuleCase> &cases) {
  const char *forms[][4] = {{"3x4", "[1]", "", "3"},
                            {"3x4", "[0, 1]", "", ""},
                            {"2x3x4", "[0, 2]", "{keep_dims}", "1x3x1"},
                            {"2x3x4", "[1]", "", "2x4"}};
  for (const char *kind : {"sum", "mean", "max", "min"})
    for (auto &form : forms)
      cases.push_back(
          {"weft.reduce",
           std::string(kind) + " of " + form[0] + " over " + form[1],
           {{"x", form[0]}},
           std::string("%y = weft.reduce ") + kind + " %x dims " + form[1] +
               " " + form[2] + " : " + tensor(form[0]),
           form[3]});
}

std::vector<RuleCase> shapeCases() {
  std::vector<RuleCase> cases;
  addReduce(cases);
  // op, attributes after the operand, operand, result; `to` where it is
  // printed.
  struct Form {
    const char *op, *attrs, *from, *to;
    bool printsResult;
  };
  const Form forms[] = {
      {"broadcast", "", "4", "3x4", true},
      {"broadcast", "", "2x1x3", "2x4x3", true},
      {"broadcast", "", "", "2x3", true},
      {"broadcast", "", "1x3", "2x4x3", true},
      {"reshape", "", "3x4", "12", true},
      {"reshape", "", "2x3x4", "6x4", true},
      {"reshape", "", "1", "", true},
      {"transpose", "[1, 0]", "3x4", "4x3", false},
      {"transpose", "[2, 0, 1]", "2x3x4", "4x2x3", false},
      {"transpose", "[0, 2, 1, 3]", "2x3x2x2", "2x2x3x2", false},
      {"slice", "offsets [1] sizes [3] strides [1]", "6", "3", false},
      {"slice", "offsets [0, 1] sizes [3, 2] strides [1, 2]", "3x4", "3x2",
       false},
      {"slice", "offsets [1, 0, 2] sizes [1, 2, 2] strides [1, 2, 3]", "2x4x7",
       "1x2x2", false},
      {"pad", "low [1] high [2] interior [0]", "3", "6", false},
      {"pad", "low [0, 1] high [1, 0] interior [1, 2]", "2x3", "4x8", false},
      {"pad", "low [0, 0, 0] high [0, 0, 0] interior [0, 0, 0]", "2x3x2",
       "2x3x2", false},
  };
  for (const Form &form : forms)
    cases.push_back({std::string("weft.") + form.op,
                     std::string(form.from) + " to " + form.to,
                     {{"x", form.from}},
                     std::string("%y = weft.") + form.op + " %x " + form.attrs +
                         " : " + tensor(form.from) +
                         (form.printsResult ? " to " + tensor(form.to) : ""),
                     form.to});
  const char *joins[][4] = {{"3", "2", "0", "5"},
                            {"2x3", "2x1", "1", "2x4"},
                            {"1x2", "3x2", "0", "4x2"}};
  for (auto &join : joins)
    cases.push_back({"weft.concat",
                     std::string(join[0]) + " and " + join[1],
                     {{"a", join[0]}, {"b", join[1]}},
                     std::string("%y = weft.concat %a, %b {dim = ") + join[2] +
                         "} : " + tensor(join[0]) + ", " + tensor(join[1]),
                     join[3]});
  return cases;
}

} // namespace weft::test
