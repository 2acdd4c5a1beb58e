//===- RuleCases.h - Small programs, one differentiable op each -*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_AUTODIFF_RULECASES_H
#define WEFT_TEST_UNIT_AUTODIFF_RULECASES_H

#include <string>
#include <vector>

namespace weft::test {

/// A parameter of f64, drawn uniformly from [low, high).
struct RuleParam {
  std::string name, shape;
  double low = -1, high = 1;
  bool trainable = true;
  /// Not cast in the low-precision form of a case: class weights.
  bool staysWide = false;
};

/// A program that computes %y from values named as the parameters.
struct RuleCase {
  std::string op;   // "weft.tanh"
  std::string form; // that distinguishes the case, such as "8x4"
  std::vector<RuleParam> params;
  std::string body;
  std::string resultShape;

  /// A module with a model program whose loss is a weighted sum of %y.
  std::string text() const;
  /// The same with f32 parameters that are cast to `low`, and the op in `low`.
  std::string lowText(const std::string &low) const;
};

/// "tensor<8x4xf64>"; "" is the shape of a scalar. An operand that is f32 in
/// the low-precision form of a case has the element type kWide.
std::string tensor(const std::string &shape,
                   const std::string &element = "f64");

constexpr const char *kWide = "wide";

/// At least three cases of each differentiable op.
std::vector<RuleCase> ruleCases();

std::vector<RuleCase> elementwiseCases();
std::vector<RuleCase> shapeCases();
std::vector<RuleCase> layerCases();

} // namespace weft::test

#endif // WEFT_TEST_UNIT_AUTODIFF_RULECASES_H
