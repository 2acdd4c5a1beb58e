//===- ProgramFile.cpp - What a compiled program holds for readers --------===//

#include "ProgramFile.h"

#include "ToolCommands.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace weft;

static Expected<std::unique_ptr<llvm::MemoryBuffer>>
readBytes(const std::string &path) {
  // A file that is not regular, such as a device, may be endless.
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path))
    return inputError("expects a regular file").at(path);
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return systemError(ExitCode::Input, "cannot read it",
                       buffer.getError().value())
        .at(path);
  return std::move(*buffer);
}

Expected<ProgramFile> weft::readProgramFile(const std::string &path) {
  auto buffer = readBytes(path);
  if (!buffer)
    return buffer.takeError();
  auto object = llvm::object::ObjectFile::createELFObjectFile(**buffer);
  if (!object) {
    llvm::consumeError(object.takeError());
    return inputError("expects a program that weft compile made")
        .at(path)
        .hint("weft compile MODEL -o FILE makes one");
  }
  ProgramFile program;
  bool hasMetadata = false;
  for (const llvm::object::SectionRef &section : (*object)->sections()) {
    llvm::Expected<llvm::StringRef> name = section.getName();
    llvm::Expected<llvm::StringRef> contents = section.getContents();
    if (!name || !contents)
      return inputError("expects sections that can be read, but got one with " +
                        llvm::toString(llvm::joinErrors(name.takeError(),
                                                        contents.takeError())))
          .at(path);
    llvm::StringRef chip = *name;
    if (*name == ".weft.meta") {
      program.metadata = contents->rtrim('\0').str();
      hasMetadata = true;
    } else if (chip.consume_front(".weft.") && chip.starts_with("sm_")) {
      program.images.push_back({chip.str(), contents->str()});
    }
  }
  if (hasMetadata)
    return program;
  return inputError("expects a program that weft compile made, but got one "
                    "without a section .weft.meta")
      .at(path);
}

Expected<Json> weft::readMetadata(const std::string &path) {
  Expected<ProgramFile> program = readProgramFile(path);
  if (!program)
    return program.takeError();
  return parseJson(program->metadata, path);
}
