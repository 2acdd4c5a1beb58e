//===- TextTest.cpp - Errors and text for messages ------------------------===//

#include "TestSupport.h"

#include <cerrno>
#include <cmath>
#include <limits>

using namespace weft;

TEST(Error, PrintsPlaceMessageAndHint) {
  Error error(ExitCode::Input, "expects 2, but got 3");
  EXPECT_EQ(error.str(), "weft: error: expects 2, but got 3\n");
  error.at("a.json");
  EXPECT_EQ(error.str(), "weft: error: a.json: expects 2, but got 3\n");
  error.at("a.json", 7).hint("write 2");
  EXPECT_EQ(error.str(),
            "weft: error: a.json:7: expects 2, but got 3\nhint: write 2\n");
  EXPECT_EQ(error.exitStatus(), 3);
}

TEST(Error, FilesOfCheckpointsAreDamagedOrCannotBeRead) {
  for (int number : {ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG}) {
    Error error = systemError(ExitCode::Input, "cannot open", number);
    EXPECT_EQ(error.ofCheckpoint().code(), ExitCode::Checkpoint) << number;
    EXPECT_TRUE(error.isDamage());
  }
  for (int number : {EACCES, EPERM, EIO, EMFILE, ENFILE, ESTALE}) {
    Error error = systemError(ExitCode::Input, "cannot open", number);
    error.hint("the checkpoint is damaged");
    EXPECT_EQ(error.ofCheckpoint().code(), ExitCode::Storage) << number;
    EXPECT_EQ(error.hintText(), "");
    EXPECT_FALSE(error.isDamage());
  }
  Error memory = systemError(ExitCode::Input, "cannot open", ENOMEM);
  memory.hint("the checkpoint is damaged");
  EXPECT_EQ(memory.ofCheckpoint().code(), ExitCode::DoesNotFit);
  EXPECT_EQ(memory.message(), "cannot open: the system gives no more memory");
  EXPECT_EQ(memory.hintText().substr(0, 25), "raise the limit on memory");
  EXPECT_FALSE(memory.isDamage());
  EXPECT_EQ(systemError(ExitCode::Input, "cannot open", EIO).message(),
            "cannot open: input/output error");
  Error content = inputError("expects a '{'");
  EXPECT_TRUE(content.ofCheckpoint().isDamage());
  EXPECT_FALSE(checkpointError("another version").ofWholeFile().isDamage());
}

TEST(Error, ReportWritesAndReturnsTheExitStatus) {
  std::FILE *stream = std::tmpfile();
  EXPECT_EQ(storageError("disk full").report(stream), 8);
  std::rewind(stream);
  char text[64] = {};
  EXPECT_GT(std::fread(text, 1, sizeof text - 1, stream), 0u);
  std::fclose(stream);
  EXPECT_STREQ(text, "weft: error: disk full\n");
}

TEST(Error, ExitCodesAreThePromisedOnes) {
  EXPECT_EQ(usageError("").exitStatus(), 2);
  EXPECT_EQ(inputError("").exitStatus(), 3);
  EXPECT_EQ(checkpointError("").exitStatus(), 5);
  EXPECT_EQ(storageError("").exitStatus(), 8);
  EXPECT_EQ(static_cast<int>(ExitCode::DoesNotFit), 4);
  EXPECT_EQ(static_cast<int>(ExitCode::Numerics), 6);
  EXPECT_EQ(static_cast<int>(ExitCode::Communication), 7);
  EXPECT_EQ(static_cast<int>(ExitCode::Device), 9);
  EXPECT_EQ(static_cast<int>(ExitCode::Internal), 70);
  EXPECT_EQ(static_cast<int>(ExitCode::StoppedAndSaved), 75);
  EXPECT_EQ(static_cast<int>(ExitCode::Interrupted), 130);
  EXPECT_EQ(static_cast<int>(ExitCode::Terminated), 143);
}

TEST(Error, StatusAndExpectedCarryIt) {
  EXPECT_TRUE(Status::success().ok());
  Status bad = inputError("x");
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error().message(), "x");
  Expected<std::string> value = std::string("v");
  EXPECT_EQ(*value, "v");
  EXPECT_EQ(value->size(), 1u);
  Expected<std::string> failed = bad.takeError();
  EXPECT_EQ(errorOf(failed), "3|x");
}

TEST(Text, ErrnoIsLowerCase) {
  EXPECT_EQ(errnoText(ENOENT), "no such file or directory");
}

TEST(Text, PrintableReplacesWhatSpoilsATerminal) {
  EXPECT_EQ(printable("a\x1b[31mb\n\x7f", 80), "a?[31mb??");
  EXPECT_EQ(printable("\xc3\xa9", 80), "\xc3\xa9"); // a letter stays
  EXPECT_EQ(printable("\xc2\x9b", 80), "?");        // a C1 control does not
  EXPECT_EQ(printable("\xff\xc3", 80), "??");       // malformed, cut short
  EXPECT_EQ(printable(std::string(100, 'a'), 10), "aaaaaaaaaa...");
  EXPECT_EQ(inQuotes("x"), "'x'");
}

TEST(Text, EscapedSpellsOutWhatSpoilsATerminal) {
  EXPECT_EQ(escaped("a\x1b[31mb\n\x7f\\"), "a\\x1B[31mb\\x0A\\x7F\\");
  EXPECT_EQ(escaped("a\nb\tc\r", "\n\t"), "a\nb\tc\\x0D");
  EXPECT_EQ(escaped("\xc3\xa9\xc2\x9b\xff"), "\xc3\xa9\\xC2\\x9B\\xFF");
  EXPECT_EQ(escaped(std::string_view("\0", 1)), "\\x00");
}

TEST(Error, SpellsOutControlBytes) {
  Error error = inputError("expects x, but got \x1b[2J\nmore");
  error.at("a\nb\x07").hint("\x1b");
  EXPECT_EQ(error.str(), "weft: error: a\\x0Ab\\x07: expects x, but got "
                         "\\x1B[2J\nmore\nhint: \\x1B\n");
}

TEST(Text, WrapsWords) {
  EXPECT_EQ(wrapText("one two three", 2, 11), "one two\n  three");
  EXPECT_EQ(wrapText("one two three", 0, 80), "one two three");
  // A word is never cut.
  EXPECT_EQ(wrapText("a longest b", 0, 3), "a\nlongest\nb");
  EXPECT_EQ(wrapText("", 4, 10), "");
}

TEST(Text, SmallNumbersKeepThreeDigits) {
  EXPECT_EQ(threeDigits(3.14159, 4), "3.1416");
  EXPECT_EQ(threeDigits(0.0123456, 4), "0.0123");
  EXPECT_EQ(threeDigits(0.00123456, 4), "0.00123");
  EXPECT_EQ(threeDigits(1.5e-7, 4), "1.50e-07");
  EXPECT_EQ(threeDigits(469.17, 1), "469.2");
  EXPECT_EQ(threeDigits(4.5678, 1), "4.57");
  EXPECT_EQ(threeDigits(0.5, 1), "0.500");
  EXPECT_EQ(threeDigits(0.0, 1), "0.0");
  EXPECT_EQ(threeDigits(-0.001, 4), "-0.00100");
  EXPECT_EQ(threeDigits(NAN, 4), "nan");
  EXPECT_EQ(threeDigits(INFINITY, 4), "inf");
}

TEST(Text, Utf8LengthFollowsTheStandard) {
  EXPECT_EQ(utf8Length("a"), 1u);
  EXPECT_EQ(utf8Length("\xe2\x82\xac"), 3u);
  EXPECT_EQ(utf8Length("\xf0\x9f\x98\x80"), 4u);
  EXPECT_EQ(utf8Length("\xc0\x80"), 0u);         // overlong
  EXPECT_EQ(utf8Length("\xe0\x80\x80"), 0u);     // overlong
  EXPECT_EQ(utf8Length("\xf0\x80\x80\x80"), 0u); // overlong
  EXPECT_EQ(utf8Length("\xed\xa0\x80"), 0u);     // surrogate
  EXPECT_EQ(utf8Length("\xf4\x90\x80\x80"), 0u); // above U+10FFFF
  EXPECT_EQ(utf8Length("\xe2\x82"), 0u);         // cut
  EXPECT_EQ(utf8Length("\x80"), 0u);             // continuation
}

TEST(Text, NumbersAreShort) {
  EXPECT_EQ(numberText(65536), "65536");
  EXPECT_EQ(numberText(0.5), "0.5");
  EXPECT_EQ(numberText(1e-40), "1e-40");
  EXPECT_EQ(numberText(16777217.0), "16777217"); // no f32 has more digits
  EXPECT_EQ(numberText(1234567890123.0, 12), "1.23456789012e+12");
  EXPECT_EQ(numberText(-std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(Text, SizesHaveUnits) {
  EXPECT_EQ(humanBytes(17), "17 B");
  EXPECT_EQ(humanBytes(-1536), "-1.50 KiB");
  EXPECT_EQ(humanBytes(int64_t(5) << 40), "5.00 TiB");
  EXPECT_EQ(humanBytes(int64_t(1) << 60), "1048576.00 TiB");
  EXPECT_EQ(exactBytes(1), "1 byte");
  EXPECT_EQ(exactBytes(1000), "1000 bytes");
  EXPECT_EQ(exactBytes(1234567), "1234567 bytes (1.18 MiB)");
}

TEST(Text, EndsWith) {
  EXPECT_TRUE(endsWith("model.bin", ".bin"));
  EXPECT_TRUE(endsWith("x", ""));
  EXPECT_FALSE(endsWith("bin", ".bin"));
}

TEST(Text, SimilarName) {
  std::vector<std::string> names = {"n_layer", "n_head", "vocab_size"};
  EXPECT_EQ(similarName("n_layers", names), "n_layer");
  EXPECT_EQ(similarName("vocabsize", names), "vocab_size");
  EXPECT_EQ(similarName("rope_theta", names), "");
  EXPECT_EQ(similarName("n_layer", {}), "");
  EXPECT_EQ(similarName("", names), "");
}

TEST(Text, wholeCharacters) {
  EXPECT_EQ(wholeCharacters(""), 0u);
  EXPECT_EQ(wholeCharacters("ab"), 2u);
  const std::string euro = "a\xe2\x82\xac", face = "\xf0\x9f\x98\x80";
  EXPECT_EQ(wholeCharacters(euro), 4u);
  EXPECT_EQ(wholeCharacters(euro.substr(0, 3)), 1u);
  EXPECT_EQ(wholeCharacters(euro.substr(0, 2)), 1u);
  EXPECT_EQ(wholeCharacters(face), 4u);
  EXPECT_EQ(wholeCharacters(face.substr(0, 3)), 0u);
  // Bytes that are no character are not held.
  EXPECT_EQ(wholeCharacters("a\x80\x80\x80"), 4u);
}

TEST(Text, EditDistance) {
  EXPECT_EQ(editDistance("", ""), 0u);
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(editDistance("steps", "stpes"), 1u); // neighbours swapped
  EXPECT_EQ(editDistance("ca", "abc"), 3u);      // no edit inside a swap
}
