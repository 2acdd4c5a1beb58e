//===- JsonLinesTest.cpp - Fields of a line of JSON -----------------------===//

#include "weft/Formats/JsonLines.h"

#include <gtest/gtest.h>

using namespace weft;

TEST(JsonLinesTest, ColumnsOfFields) {
  EXPECT_EQ(columnOfField("{\"a\": {\"b\": 1}, \"b\" : 2}", "b"), 17u);
  EXPECT_EQ(columnOfField("{\"a\": \"\\\"b\\\": 1\"}", "b"), 1u);
  EXPECT_EQ(columnOfField("{\"a\": tru, \"b\": 2", "b"), 12u);
  EXPECT_EQ(columnOfField("", "b"), 1u);
}

TEST(JsonLinesTest, Questions) {
  for (const char *line :
       {"{\"prompt\": \"a\", \"choices\": [\"b\"], \"answer\": 0}",
        "{\"choices\": 1}", "{\"prompt\": \"a, \"choices\": [",
        "\t{\"choices\": ["})
    EXPECT_TRUE(isQuestionLine(line)) << line;
  for (const char *line : {"", "{", "[\"choices\"]", "{\"text\": \"a\"}",
                           "{\"text\": \"\\\"choices\\\": 1\"}",
                           "{\"text\": \"a\", \"meta\": {\"choices\": []}}"})
    EXPECT_FALSE(isQuestionLine(line)) << line;
  EXPECT_TRUE(beginsWithQuestion("\xef\xbb\xbf\n\r\n{\"choices\": []}\nx"));
  EXPECT_FALSE(beginsWithQuestion("{\"text\": \"\"}\n{\"choices\": []}"));
  EXPECT_FALSE(beginsWithQuestion(""));
}
