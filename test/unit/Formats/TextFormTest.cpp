//===- TextFormTest.cpp - Text that is not read as it is ------------------===//

#include "weft/Formats/FileKind.h"

#include "../Base/TestSupport.h"

using namespace weft;

/// The form of a whole file.
static TextForm formOf(const std::string &text,
                       const std::string &name = "data.txt") {
  return guessTextForm(text, int64_t(text.size()), name);
}

/// The form of a file of which `text` is the front.
static TextForm formOfFront(const std::string &text) {
  return guessTextForm(text, int64_t(text.size()) + 1000, "data.txt");
}

/// Every letter of ASCII text in `width` bytes, at `place` of them.
static std::string widened(const std::string &text, size_t width,
                           size_t place) {
  std::string wide;
  for (char c : text)
    for (size_t i = 0; i < width; ++i)
      wide += i == place ? c : '\0';
  return wide;
}

TEST(TextForm, JsonByContent) {
  EXPECT_EQ(formOf(R"([{"text": "a"}, {"text": "b\"c"}])"), TextForm::Json);
  EXPECT_EQ(formOf("\n{\"a\": [1, -2.5e3, true, null, {}, []]}\n"),
            TextForm::Json);
  EXPECT_EQ(formOfFront(R"([{"text": "once upon)"), TextForm::Json);
  EXPECT_EQ(formOfFront(R"({"a": tr)"), TextForm::Json);
  EXPECT_EQ(formOfFront(R"({"a": "\)"), TextForm::Json);
}

TEST(TextForm, JsonLinesByContent) {
  EXPECT_EQ(formOf("{\"text\": \"a\"}\n{\"text\": \"b\"}\n"),
            TextForm::JsonLines);
  EXPECT_EQ(formOf("[1]\r\n\r\n[2]"), TextForm::JsonLines);
  EXPECT_EQ(formOfFront("{\"text\": \"a\"}\n{\"te"), TextForm::JsonLines);
}

TEST(TextForm, TextWithJsonInItIsText) {
  for (const char *text :
       {"{\"text\": \"a\"}\n\nThe object above has a field.\n",
        "[Chapter 1]\nIt was a dark night.\n",
        "[1] A footnote.\n",
        "{ int x = 1; }\n",
        "[package]\nname = \"weft\"\n",
        "{\"a\": 1,}\n",
        "{'a': 1}\n",
        "[1, 2\n",
        "{\"a\": \"line\nend\"}",
        "{{ template }}\n",
        "{% if x %}\n",
        "[\n",
        "{",
        "{\"a\" 1}",
        "[1 2]",
        "def f():\n  return {\"a\": 1}\n",
        "\"quoted\" text",
        "1\n2\n",
        "true story",
        "a, b, c\n1, 2, 3\n",
        "   \n",
        "[01-02] x",
        "[tru]"})
    EXPECT_EQ(formOf(text), TextForm::Plain) << text;
  // A contradiction may come late.
  std::string late = "{\"text\": \"" + std::string(60000, 'a') + "\"}\n";
  EXPECT_EQ(formOf(late + "and so on"), TextForm::Plain);
  EXPECT_EQ(formOf(late + late), TextForm::JsonLines);
}

TEST(TextForm, NamesTell) {
  EXPECT_EQ(formOf("prose", "a/b.JSONL"), TextForm::JsonLines);
  EXPECT_EQ(formOf("prose", "a.ndjson"), TextForm::JsonLines);
  EXPECT_EQ(formOf("prose", "a.json"), TextForm::Json);
  // JSON by content goes before the name.
  EXPECT_EQ(formOf("{\"a\": 1}\n{\"a\": 2}\n", "a.json"), TextForm::JsonLines);
  EXPECT_EQ(formOf("[{\"a\": 1}]", "a.jsonl"), TextForm::Json);
  EXPECT_EQ(formOf("\xef\xbb\xbf{\"a\": 1}\n{\"a\": 2}\n"),
            TextForm::JsonLines);
  EXPECT_EQ(formOf("a,b", "a.csv"), TextForm::Csv);
  EXPECT_EQ(formOf("a\tb", "a.tsv"), TextForm::Tsv);
  EXPECT_EQ(formOf("a,b", "a.csv.txt"), TextForm::Plain);
  EXPECT_EQ(formOf("a,b", "csv"), TextForm::Plain);
}

TEST(TextForm, WideLetters) {
  const std::string text = "To be, or not to be: that is\n";
  EXPECT_EQ(formOf(widened(text, 2, 0)), TextForm::Utf16);
  EXPECT_EQ(formOf(widened(text, 2, 1)), TextForm::Utf16);
  EXPECT_EQ(formOf(widened(text, 4, 0)), TextForm::Utf32);
  EXPECT_EQ(formOf(widened(text, 4, 3)), TextForm::Utf32);
  EXPECT_EQ(formOf(std::string("\xff\xfe\x2d\x4e", 4)), TextForm::Utf16);
  EXPECT_EQ(formOf("\xfe\xff\x4e\x2d"), TextForm::Utf16);
  EXPECT_EQ(formOf(std::string("\xff\xfe\0\0a\0\0\0", 8)), TextForm::Utf32);
  EXPECT_EQ(formOf(std::string("\0\0\xfe\xff\0\0\0a", 8)), TextForm::Utf32);
  // Its name does not make JSON of it.
  EXPECT_EQ(formOf(widened("{\"text\": \"a letter\"}", 2, 0), "a.json"),
            TextForm::Utf16);
  EXPECT_EQ(formOf(std::string(100, '\0')), TextForm::Plain);
  EXPECT_EQ(formOf(std::string("a\0b", 3)), TextForm::Plain);
}

TEST(TextForm, CommandsNameTheField) {
  auto command = [](TextForm form, const std::string &head,
                    const std::string &path = "d") {
    return textCommand(form, head, path);
  };
  EXPECT_EQ(
      command(TextForm::JsonLines, R"({"id": 1, "body": "x", "c": "y"})"),
      "python3 -c \"import json,sys; [print(json.loads(line)['body']) for "
      "line in sys.stdin if line.strip()]\" < d > d.txt");
  EXPECT_EQ(command(TextForm::Json, R"( [{"id": "7", "text": "x"})"),
            "python3 -c \"import json,sys; [print(row['text']) for row in "
            "json.load(sys.stdin)]\" < d > d.txt");
  EXPECT_EQ(
      command(TextForm::Json, "{\"a$(b)\": \"x\", \"in\": {\"text\": \"y\"}}"),
      "python3 -c \"import json,sys; print(json.load(sys.stdin)['FIELD'])"
      "\" < d > d.txt, with the name of a field for FIELD (a$(b))");
  // A lone text beside something else is perhaps a number of the row.
  EXPECT_EQ(command(TextForm::JsonLines, "{\"id\": \"7\", \"turns\": [1]}"),
            "python3 -c \"import json,sys; [print(json.loads(line)['FIELD']) "
            "for line in sys.stdin if line.strip()]\" < d > d.txt, with the "
            "name of a field for FIELD (id)");
  EXPECT_EQ(command(TextForm::JsonLines, "{\"quote\": \"x\"}"),
            "python3 -c \"import json,sys; [print(json.loads(line)['quote']) "
            "for line in sys.stdin if line.strip()]\" < d > d.txt");
  EXPECT_EQ(command(TextForm::Json, "{\"data\": [1]}"),
            "python3 -c \"import json,sys; print(json.load(sys.stdin)['FIELD'])"
            "\" < d > d.txt, with the name of a field for FIELD");
  EXPECT_EQ(command(TextForm::Json, "  "), command(TextForm::Json, "{}"));
  EXPECT_EQ(command(TextForm::JsonLines, "{\n\"text\": \"a\"\n}\n{}"), "");
  EXPECT_EQ(
      command(TextForm::Csv, "\"quote, or so\",author\r\nx,y", "my d"),
      "python3 -c \"import csv,sys; csv.field_size_limit(10**9); "
      "[print(row['FIELD']) for row in csv.DictReader(sys.stdin)]\" < "
      "'my d' > 'my d.txt', with the name of a field for FIELD (quote, or "
      "so, author)");
  EXPECT_EQ(command(TextForm::Tsv, "id\ttext"),
            "python3 -c \"import csv,sys; csv.field_size_limit(10**9); "
            "[print(row['text']) for row in csv.DictReader(sys.stdin, "
            "delimiter='\\t')]\" < d > d.txt");
  EXPECT_EQ(command(TextForm::Utf16, std::string("\xff\xfe"
                                                 "a\0",
                                                 4)),
            "iconv -f UTF-16 -t UTF-8 d > d.txt");
  EXPECT_EQ(command(TextForm::Utf16, std::string("a\0", 2)),
            "iconv -f UTF-16LE -t UTF-8 d > d.txt");
  EXPECT_EQ(command(TextForm::Utf32, std::string("\0\0\0a", 4)),
            "iconv -f UTF-32BE -t UTF-8 d > d.txt");
  EXPECT_EQ(shellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(shellWord(""), "''");
}
