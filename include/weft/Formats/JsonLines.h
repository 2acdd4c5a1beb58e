//===- JsonLines.h - Fields of a line of JSON -------------------*- C++ -*-===//

#ifndef WEFT_FORMATS_JSONLINES_H
#define WEFT_FORMATS_JSONLINES_H

#include <cstddef>
#include <string_view>

namespace weft {

/// The column, from 1, of a field of the outermost object of a line of JSON; 1
/// if it has no such field. The line may be malformed.
size_t columnOfField(std::string_view line, std::string_view name);

/// Whether a line is a question of multiple choice: an object with a field
/// `choices`. A malformed line counts as a question, too, if it names `choices`
/// and has no field `text`; its error then speaks of questions.
bool isQuestionLine(std::string_view line);

/// isQuestionLine() of the first line that is not blank.
bool beginsWithQuestion(std::string_view text);

/// The commands that read questions, as a hint.
extern const char *const kQuestionsHint;

} // namespace weft

#endif // WEFT_FORMATS_JSONLINES_H
