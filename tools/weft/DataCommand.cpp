//===- DataCommand.cpp - weft data prepare: text to files of tokens -------===//

#include "CommandHelp.h"
#include "PrepareTokens.h"
#include "ToolCommands.h"

#include "weft/Base/Results.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/StepDirectories.h"

using namespace weft;

static const CommandHelp kDataHelp = {
    {"weft data prepare INPUT... -o FILE --tokenizer=PATH|bytes [flags]"},
    {"INPUT: text, or JSON lines (.jsonl) with a field text; a list "
     "a.txt,b.txt, "
     "a glob, or files with weights: a.jsonl:0.7,b/*.jsonl:0.3"}};

FlagTable weft::dataFlags() {
  return FlagTable({
      {"tokenizer", FlagKind::String, DriverFlag, "", "PATH|bytes",
       "tokenizer.json, tokenizer.model, vocab.json with merges.txt, a GGUF "
       "file, or the folder of a model; bytes: a token per byte",
       "", 0, 0, "", FlagFile::Read},
      {"output", FlagKind::String, DriverFlag, "", "FILE",
       "the file of tokens, for --data", "", 0, 0, "o", FlagFile::Written},
      {"overwrite", FlagKind::Switch, DriverFlag, "", "",
       "let the output replace a file that weft did not write"},
      {"end-of-text", FlagKind::String, DriverFlag, "", "TOKEN|none",
       "token that ends each document; default: the one that the tokenizer's "
       "files name"},
      {"parse-special", FlagKind::Switch, DriverFlag, "on", "",
       "text such as <|endoftext|> becomes the special token"},
      helpFlag(DriverFlag),
  });
}

/// Inputs come first: an output that is kept may hide their errors.
static Status checkDataFiles(const FlagValues &flags,
                             const std::vector<TextGroup> &groups) {
  std::vector<FileUse> inputs = flags.files(FlagFile::Read);
  for (FileUse &use : filesOf(groups, "INPUT"))
    inputs.push_back(std::move(use));
  const std::vector<FileUse> outputs = flags.files(FlagFile::Written);
  if (Status s = checkOutputPaths(outputs, inputs, manifestName); !s)
    return s;
  for (const TextGroup &group : groups)
    for (const std::string &file : group.files)
      if (auto reader = DocumentReader::open(file); !reader)
        return reader.takeError();
  return checkReplaced(outputs, flags.getSwitch("overwrite"));
}

static Status prepareData(const FlagValues &flags, const Arguments &inputs) {
  Expected<std::vector<TextGroup>> groups = parseTextGroups(inputs);
  if (!groups)
    return groups.takeError();
  if (Status s = checkDataFiles(flags, *groups); !s)
    return s;
  const std::string noEndHint =
      "--end-of-text=TOKEN names one, such as '<|endoftext|>'; none: documents "
      "are not separated";
  const std::string &name = flags.getString("tokenizer");
  const std::string &end = flags.getString("end-of-text");
  Expected<TextTokenizer> text =
      name == kByteTokenizer ? TextTokenizer::ofBytes(end)
                             : TextTokenizer::load(name, end, &noEndHint);
  if (!text)
    return text.takeError();
  text->findsSpecialTokens = flags.getSwitch("parse-special");
  return prepareTokens(*groups, *text, flags.getString("output"));
}

Expected<ExitCode> weft::dataCommand(const Arguments &args) {
  FlagParseOptions options;
  options.program = "weft data";
  Expected<FlagValues> flags = dataFlags().parse(args, options);
  if (!flags)
    return flags.takeError();
  if (flags->getSwitch("help")) {
    printCommandHelp(kDataHelp, {dataFlags()});
    return ExitCode::Ok;
  }
  Arguments inputs = flags->positionals();
  if (inputs.empty() || inputs.front() != "prepare")
    return usageError("weft data expects prepare, but got ",
                      inputs.empty() ? "none" : inQuotes(inputs.front()))
        .hint("weft data --help");
  inputs.erase(inputs.begin());
  if (inputs.empty())
    return usageError("expects INPUT, but got none").hint("weft data --help");
  if (!flags->hasValue("output"))
    return usageError("expects -o FILE, but got none");
  if (!flags->hasValue("tokenizer"))
    return usageError("expects --tokenizer=PATH, but got none")
        .hint("name the model's folder, its tokenizer.json or tokenizer.model, "
              "or a GGUF file");
  if (Status status = prepareData(*flags, inputs); !status)
    return status.takeError();
  return ExitCode::Ok;
}
