//===- ChoiceQuestions.h - Questions with choices, as JSON lines *- C++ -*-===//
//
// A line has a question:
//
//   {"prompt": "The capital of France is", "choices": [" Paris", " Rome"],
//    "answer": 0}
//
// Other fields are left out. A prediction needs no answer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_CHOICEQUESTIONS_H
#define WEFT_TOOLS_WEFT_CHOICEQUESTIONS_H

#include "weft/Base/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct ChoiceQuestion {
  std::string prompt;
  std::vector<std::string> choices; // at least two
  std::optional<size_t> answer;     // the index of the right one
  int line = 0;
};

/// Whether a path names JSON lines of questions: the first one has a field
/// `choices`, malformed or not. False for a file that cannot be read, too.
bool hasQuestions(const std::string &path);

/// Errors name the file, the line and the column of a field. A question without
/// an answer is an error if the caller `needsAnswers`.
Expected<std::vector<ChoiceQuestion>> readQuestions(const std::string &path,
                                                    bool needsAnswers);

/// The number of choices of all questions.
int64_t countChoices(const std::vector<ChoiceQuestion> &questions);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_CHOICEQUESTIONS_H
