//===- TokenizeCommand.cpp - weft tokenize: text to ids and back ----------===//

#include "CommandHelp.h"
#include "TokenizeRun.h"
#include "ToolCommands.h"

#include "weft/Base/InputFile.h"
#include "weft/Base/Results.h"
#include "weft/Base/StandardInput.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/StepDirectories.h"

using namespace weft;

static const CommandHelp kTokenizeHelp = {
    {"weft tokenize FILE --tokenizer=PATH|bytes [flags]"},
    {"FILE: text, or JSON lines with a document in the field 'text' of each; "
     "with --decode token numbers, as text or as a file of tokens; - or a pipe "
     "is standard input"}};

FlagTable weft::tokenizeFlags() {
  return FlagTable({
      {"tokenizer", FlagKind::String, DriverFlag, "", "PATH|bytes",
       "tokenizer.json, tokenizer.model, vocab.json with merges.txt, a GGUF "
       "file, or the folder of a model; bytes: a token per byte",
       "", 0, 0, "", FlagFile::Read},
      {"output", FlagKind::String, DriverFlag, "", "FILE",
       "write a file of tokens for --data, or the text; default, and -: print "
       "token numbers, or the text",
       "", 0, 0, "o", FlagFile::Written},
      {"overwrite", FlagKind::Switch, DriverFlag, "", "",
       "let the output replace any file; a file of tokens that weft wrote is "
       "always replaced"},
      {"decode", FlagKind::Switch, DriverFlag, "", "",
       "FILE holds token numbers, whose text is wanted"},
      {"format", FlagKind::Enum, DriverFlag, "auto", "",
       "form of FILE; auto: by its first bytes and its name",
       "auto|text|jsonl"},
      {"lines", FlagKind::Switch, DriverFlag, "", "",
       "each line of a text is a document; default: the text is one"},
      {"add-special", FlagKind::Switch, DriverFlag, "on", "",
       "add the tokens that begin and end each document"},
      {"parse-special", FlagKind::Switch, DriverFlag, "on", "",
       "text such as <|endoftext|> becomes the special token"},
      {"skip-special", FlagKind::Switch, DriverFlag, "on", "",
       "leave special tokens out of decoded text"},
      helpFlag(DriverFlag),
  });
}

/// The input comes first: an output that is kept may hide its errors.
static Status checkFiles(const FlagValues &flags, const std::string &input) {
  std::vector<FileUse> inputs = flags.files(FlagFile::Read);
  const bool isFile = input != kStandardInput;
  if (isFile)
    inputs.push_back({"FILE", input});
  const std::vector<FileUse> outputs = flags.files(FlagFile::Written);
  if (Status s = checkOutputPaths(outputs, inputs, manifestName); !s)
    return s;
  if (isFile)
    if (auto file = InputFile::open(input); !file)
      return file.takeError();
  return checkReplaced(outputs, flags.getSwitch("overwrite"));
}

/// Flags of one direction, which the other would ignore.
static Status checkDirection(const FlagValues &flags) {
  const bool decodes = flags.getSwitch("decode");
  const char *const ofLines =
      "leave it out: with --decode each line of numbers is a document";
  const char *const ofSpecials =
      "leave it out: --skip-special is the flag of decoded special tokens";
  for (const auto &[flag, hint] : {std::pair("lines", ofLines),
                                   {"format", ofLines},
                                   {"add-special", ofSpecials},
                                   {"parse-special", ofSpecials}})
    if (decodes && flags.isSet(flag))
      return usageError("--", flag,
                        " expects text to tokenize, but got --decode")
          .hint(hint);
  if (!decodes && flags.isSet("skip-special"))
    return usageError("--skip-special expects --decode, but got none")
        .hint("--no-add-special leaves out tokens that begin and end a "
              "document");
  return Status::success();
}

Expected<ExitCode> weft::tokenizeCommand(const Arguments &args) {
  FlagTable table = tokenizeFlags();
  FlagParseOptions options;
  options.program = "weft tokenize";
  options.maxPositionals = 1;
  Expected<FlagValues> flags = table.parse(args, options);
  if (!flags)
    return flags.takeError();
  if (flags->getSwitch("help")) {
    printCommandHelp(kTokenizeHelp, {table});
    return ExitCode::Ok;
  }
  if (flags->getString("output") == kStandardOutput)
    *flags = flags->without("output");
  if (Status status = checkDirection(*flags); !status)
    return status.takeError();
  if (flags->positionals().empty() && !isInputGiven())
    return usageError("expects FILE, but got none")
        .hint("weft tokenize --help; a pipe into it works, too");
  if (!flags->hasValue("tokenizer"))
    return usageError("expects --tokenizer=PATH|bytes, but got none")
        .hint("name tokenizer.json, tokenizer.model or the model's folder; "
              "bytes: a token per byte");
  const bool isPiped =
      flags->positionals().empty() || flags->positionals()[0] == "-";
  const std::string input = isPiped ? kStandardInput : flags->positionals()[0];
  if (Status status = checkFiles(*flags, input); !status)
    return status.takeError();
  Expected<Tokenizer> tokenizer =
      Tokenizer::find(flags->getString("tokenizer"));
  if (!tokenizer)
    return tokenizer.takeError();
  TokenizeRun run(*flags, input, std::move(*tokenizer));
  Status status = flags->getSwitch("decode") ? run.decode() : run.encode();
  if (!status)
    return status.takeError();
  return ExitCode::Ok;
}
