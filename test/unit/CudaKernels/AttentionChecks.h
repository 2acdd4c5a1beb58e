//===- AttentionChecks.h - CUDA attention beside f64 ------------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_CUDAKERNELS_ATTENTIONCHECKS_H
#define WEFT_TEST_UNIT_CUDAKERNELS_ATTENTIONCHECKS_H

#include "AttentionReference.h"

#include <string>

namespace weft {

/// Largest relative error of results of a type.
double attentionBound(int64_t dtype);

std::string describe(const AttentionCase &c);

/// Gradients of queries and keys, of which much cancels where there are few
/// keys: as far off as their terms are rounded.
void checkTerms(const AttentionCase &c, const Doubles &got, const Doubles &want,
                double terms);

struct AttentionResults {
  AttentionResult got, want;
};

/// Runs a case, and checks all but the gradients of queries and keys. `slack`
/// multiplies the bound for the gradients of values.
AttentionResults checkValues(const AttentionCase &c, double slack = 1.0);

/// `slack`: how much further off gradients may be.
void checkAttention(const AttentionCase &c, double slack = 1.0);

/// Stored bits give the results of drawn ones to the bit.
void checkStored(AttentionCase c);

/// A test for each type: "f32", "f16" and "bf16".
class AttentionTest : public testing::TestWithParam<int64_t> {
protected:
  AttentionCase make() {
    AttentionCase c;
    c.dtype = GetParam();
    return c;
  }
};

std::string typeName(const testing::TestParamInfo<int64_t> &info);

} // namespace weft

#endif // WEFT_TEST_UNIT_CUDAKERNELS_ATTENTIONCHECKS_H
