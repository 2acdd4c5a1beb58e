//===- ChoiceQuestions.cpp - Questions with choices, as JSON lines --------===//

#include "ChoiceQuestions.h"

#include "Documents.h"

#include "weft/Base/Results.h"
#include "weft/Base/Text.h"
#include "weft/Formats/Json.h"
#include "weft/Formats/JsonLines.h"

using namespace weft;

static const char *const kHint =
    "a line is {\"prompt\": TEXT, \"choices\": [TEXT, ...], \"answer\": N}";

bool weft::hasQuestions(const std::string &path) {
  Expected<DocumentReader> reader = DocumentReader::open(path);
  if (!reader || !reader->hasLines())
    return false;
  Expected<std::optional<std::string>> line = reader->nextLine();
  return line && *line && isQuestionLine(**line);
}

//===----------------------------------------------------------------------===//
// One line
//===----------------------------------------------------------------------===//

namespace {
class QuestionParser {
public:
  QuestionParser(std::string_view line, const std::string &file,
                 bool needsAnswer)
      : line(line), file(file), needsAnswer(needsAnswer) {}

  Expected<ChoiceQuestion> parse();

private:
  /// The field, or an error if there is none.
  Expected<const Json *> get(const char *name);
  Error wrong(const char *name, const std::string &rule,
              const std::string &value) const;
  Status readPrompt(ChoiceQuestion &question);
  Status readChoices(ChoiceQuestion &question);
  Status readAnswer(ChoiceQuestion &question);

  std::string_view line;
  const std::string &file;
  bool needsAnswer;
  Json json;
};
} // namespace

Error QuestionParser::wrong(const char *name, const std::string &rule,
                            const std::string &value) const {
  return inputError("expects ", rule, " in the field '", name, "', but got ",
                    value, " at column ", columnOfField(line, name))
      .hint(kHint);
}

Expected<const Json *> QuestionParser::get(const char *name) {
  if (const Json *field = json.find(name))
    return field;
  const bool isDocument = json.find("text") && !json.find("choices");
  return inputError("expects a field '", name, "' of a question, but got ",
                    isDocument ? "a document (field 'text')" : "none",
                    " at column ", isDocument ? columnOfField(line, "text") : 1)
      .hint(isDocument ? "questions and documents are in files of their own"
                       : kHint);
}

Status QuestionParser::readPrompt(ChoiceQuestion &question) {
  Expected<const Json *> prompt = get("prompt");
  if (!prompt)
    return prompt.takeError();
  if (!(*prompt)->isString())
    return wrong("prompt", "a text", printable((*prompt)->compact(), 80));
  question.prompt = (*prompt)->asString();
  return Status::success();
}

Status QuestionParser::readChoices(ChoiceQuestion &question) {
  Expected<const Json *> choices = get("choices");
  if (!choices)
    return choices.takeError();
  if (!(*choices)->isArray() || (*choices)->asArray().size() < 2)
    return wrong("choices", "a list of at least two texts",
                 printable((*choices)->compact(), 80));
  for (const Json &choice : (*choices)->asArray()) {
    if (!choice.isString() || choice.asString().empty())
      return wrong("choices",
                   concat("a text that is not empty as choice ",
                          question.choices.size()),
                   printable(choice.compact(), 80));
    question.choices.push_back(choice.asString());
  }
  return Status::success();
}

Status QuestionParser::readAnswer(ChoiceQuestion &question) {
  if (!needsAnswer && !json.find("answer"))
    return Status::success();
  Expected<const Json *> answer = get("answer");
  if (!answer)
    return answer.takeError();
  const auto most = int64_t(question.choices.size()) - 1;
  if (!(*answer)->isInt() || (*answer)->asInt() < 0 ||
      (*answer)->asInt() > most)
    return wrong("answer", concat("the number of a choice, 0 to ", most),
                 printable((*answer)->compact(), 80));
  question.answer = size_t((*answer)->asInt());
  return Status::success();
}

/// Whether the outermost object has two fields of a name.
static bool hasFieldTwice(std::string_view line, std::string_view name) {
  const size_t first = columnOfField(line, name);
  if (first == 1)
    return false;
  const std::string rest = concat("{", line.substr(first + name.size() + 1));
  return columnOfField(rest, name) > 1;
}

Expected<ChoiceQuestion> QuestionParser::parse() {
  if (std::optional<size_t> column = malformedColumn(line))
    return inputError("expects a JSON object in a line, but got malformed JSON "
                      "at column ",
                      *column)
        .hint(kHint);
  for (const char *name : {"prompt", "choices", "answer"})
    if (hasFieldTwice(line, name))
      return inputError("expects one field '", name,
                        "', but got two, the first at column ",
                        columnOfField(line, name))
          .hint(kHint);
  if (Status s = assign(parseJson(line, file), json); !s)
    return s.takeError();
  if (!json.isObject())
    return inputError("expects a JSON object in a line, but got another value "
                      "at column 1")
        .hint(kHint);
  ChoiceQuestion question;
  for (auto read : {&QuestionParser::readChoices, &QuestionParser::readPrompt,
                    &QuestionParser::readAnswer})
    if (Status s = (this->*read)(question); !s)
      return s.takeError();
  return question;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

Expected<std::vector<ChoiceQuestion>>
weft::readQuestions(const std::string &path, bool needsAnswers) {
  Expected<DocumentReader> reader = DocumentReader::open(path);
  if (!reader)
    return reader.takeError();
  std::vector<ChoiceQuestion> questions;
  for (;;) {
    Expected<std::optional<std::string>> line = reader->nextLine();
    if (!line)
      return line.takeError();
    if (!*line)
      return questions;
    Expected<ChoiceQuestion> question =
        QuestionParser(**line, path, needsAnswers).parse();
    if (!question)
      return question.takeError().at(path, reader->line());
    question->line = reader->line();
    questions.push_back(std::move(*question));
  }
}

int64_t weft::countChoices(const std::vector<ChoiceQuestion> &questions) {
  int64_t count = 0;
  for (const ChoiceQuestion &question : questions)
    count += int64_t(question.choices.size());
  return count;
}
