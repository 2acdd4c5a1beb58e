//===- ResumedOptimizerTest.cpp - Optimizer states of a resumed run -------===//

#include "weft/Runtime/Checkpoints/Checkpoint.h"

#include <gtest/gtest.h>

#include <deque>

using namespace weft;

namespace {

/// Parameters with moments and the counter of each; "" is frozen.
using Counted = std::vector<std::pair<std::string, std::string>>;

std::set<std::string> namesOf(const Counted &params) {
  std::set<std::string> names;
  for (const auto &[param, counter] : params)
    if (!counter.empty())
      names.insert(counter);
  return names;
}

std::map<std::string, std::string> tableOf(const Counted &params) {
  std::map<std::string, std::string> table;
  if (namesOf(params).size() > 1)
    for (const auto &[param, counter] : params)
      if (!counter.empty())
        table[param] = counter;
  return table;
}

/// A checkpoint of such a program, with its model.json; `isTold`: that says
/// what counters count.
class Saved {
public:
  explicit Saved(const Counted &params, bool isTold = true) {
    for (const auto &[param, counter] : params) {
      manifest.tensors.push_back({param, "param", TensorType::F32, {2}, {}});
      if (!counter.empty())
        manifest.tensors.push_back(
            {param + ".exp_avg", "optimizer", TensorType::F32, {2}, {}});
    }
    for (const std::string &counter : namesOf(params))
      manifest.tensors.push_back(
          {counter, "optimizer", TensorType::I64, {}, {}});
    Metadata metadata;
    metadata.counters = tableOf(params);
    model = Json::object();
    if (isTold)
      model.set("counters", describeCounters(metadata));
  }
  Manifest manifest;
  Json model;
};

/// The optimizer states that a program resumes, or the error.
std::string resume(const Saved &saved, const Counted &params,
                   ResumedOptimizer *result = nullptr) {
  static const int64_t dims[] = {2};
  std::deque<std::string> names;
  std::vector<WeftTensor> tensors;
  auto keep = [&](std::string name) {
    return names.emplace_back(std::move(name)).c_str();
  };
  for (const auto &[param, counter] : params) {
    tensors.push_back({keep(param), "", "", WEFT_PARAM, WEFT_F32, 1, 1, dims, 0,
                       8, "", nullptr, 0, 1});
    if (!counter.empty())
      tensors.push_back({keep(param + ".exp_avg"), keep(param), "",
                         WEFT_OPTIMIZER, WEFT_F32, 1, 1, dims, 0, 8, "",
                         nullptr, 0, 1});
  }
  for (const std::string &counter : namesOf(params))
    tensors.push_back({keep(counter), "", "", WEFT_OPTIMIZER, WEFT_I64, 0, 1,
                       nullptr, 0, 8, "", nullptr, 0, 1});
  WeftExecutable executable = {};
  executable.numTensors = int32_t(tensors.size());
  executable.tensors = tensors.data();
  Metadata metadata;
  metadata.counters = tableOf(params);
  auto found =
      resumeOptimizer(saved.manifest, saved.model, "/s", executable, metadata);
  if (!found)
    return found.error().where();
  std::string text;
  for (const std::string &name : found->fresh)
    text += name + "=0 ";
  for (const auto &[counter, from] : found->counters)
    text += counter + "=" + from + " ";
  if (result)
    *result = std::move(*found);
  return text;
}

TEST(ResumedOptimizer, TheSameProgram) {
  const Counted params = {{"a", "step"}, {"b", "step"}};
  EXPECT_EQ(resume(Saved(params), params), "step=step ");
  const Counted two = {{"a", "step"}, {"b", "step.late"}};
  EXPECT_EQ(resume(Saved(two), two), "step=step step.late=step.late ");
}

TEST(ResumedOptimizer, CountersGoByWhatTheyCount) {
  const Saved saved({{"a", "step"}, {"b", "step.late"}, {"c", "step.late"}});
  EXPECT_EQ(
      resume(saved, {{"a", "step.late"}, {"b", "step"}, {"c", "step.other"}}),
      "step=step.late step.late=step step.other=step.late ");
  EXPECT_EQ(resume(saved, {{"a", "step"}, {"b", "step"}, {"c", "step"}}),
            "/s: the steps of 'a' and 'b' have separate counters in the "
            "checkpoint, but one in the program");
  // A name for what was counted with all, and none any more.
  const Counted together = {{"a", "step"}, {"b", "step"}};
  EXPECT_EQ(resume(Saved(together), {{"a", "step"}, {"b", "step.late"}}),
            "step=step step.late=step ");
  const Counted renamed = {{"a", "step.new"}, {"b", "step.new"}};
  EXPECT_EQ(resume(Saved(together), renamed), "step.new=step ");
  // Nobody says what several counters count: they go by their names.
  const Counted two = {{"a", "step"}, {"b", "step.late"}};
  EXPECT_EQ(resume(Saved(two, /*isTold=*/false), two), "");
}

TEST(ResumedOptimizer, ThawedParametersBegin) {
  const Saved saved({{"a", "step"}, {"b", ""}, {"c", ""}});
  ResumedOptimizer found;
  EXPECT_EQ(resume(saved,
                   {{"a", "step"}, {"b", "step.late"}, {"c", "step.late"}},
                   &found),
            "b.exp_avg=0 c.exp_avg=0 step.late=0 step=step ");
  EXPECT_EQ(found.describe(), "the optimizer state of 'b' and of 1 other "
                              "starts at 0: frozen in the checkpoint");
  EXPECT_EQ(found.savedName("a.exp_avg"), "a.exp_avg");
  EXPECT_EQ(
      resume(saved, {{"a", "step.old"}, {"b", "step"}, {"c", ""}}, &found),
      "b.exp_avg=0 step=0 step.old=step ");
  EXPECT_EQ(found.savedName("step.old"), "step");
  EXPECT_EQ(resume(saved, {{"a", "step"}, {"b", "step"}, {"c", ""}}),
            "/s: parameter 'b' was frozen in the checkpoint, but shares a step "
            "counter with 'a'");
  // No state resumes: that is another optimizer, which other checks find.
  const Saved none({{"a", ""}, {"b", ""}});
  EXPECT_EQ(resume(none, {{"a", "step"}, {"b", "step"}}), "");
}

} // namespace
