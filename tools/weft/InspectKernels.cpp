//===- InspectKernels.cpp - The machine code of a program -----------------===//

#include "InspectViews.h"

#include "ViewTable.h"

#include "weft/Base/StandardStreams.h"
#include "weft/Formats/Cubin.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/Launches.h"
#include "weft/Frontend/Frontend.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdio>
#include <set>

using namespace weft;

static Expected<std::unique_ptr<llvm::MemoryBuffer>>
readBytes(const std::string &path) {
  if (llvm::sys::fs::is_directory(path)) {
    const std::string model = findFolderError(path) ? "MODEL" : shellWord(path);
    return inputError("expects a program that weft compile made, but got a "
                      "folder")
        .at(path)
        .hint("weft compile " + model + " -o FILE makes one");
  }
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

static Json describeKernel(const CubinKernel &kernel, const std::string &chip,
                           const LaunchSizes *launch) {
  Json entry = Json::object();
  entry.set("chip", chip);
  entry.set("name", kernel.name);
  entry.set("generated", launch != nullptr);
  entry.set("registers", int64_t(kernel.registers));
  entry.set("shared_bytes", int64_t(kernel.sharedBytes));
  entry.set("local_bytes", int64_t(kernel.localBytes));
  entry.set("stack_bytes", int64_t(kernel.stackBytes));
  entry.set("code_bytes", int64_t(kernel.codeBytes));
  Json threads = Json::array();
  entry.set("blocks", launch ? Json(launch->blocks) : Json());
  if (launch)
    for (int64_t count : {launch->threadsX, launch->threadsY, int64_t(1)})
      threads.push(count);
  else
    for (uint32_t count : kernel.threads)
      threads.push(int64_t(count));
  entry.set("threads",
            launch || kernel.threads[0] != 0 ? std::move(threads) : Json());
  return entry;
}

namespace {
/// The machine code of one chip and the launches that the metadata lists for
/// it.
class Images {
public:
  Images(const ProgramFile::Images &images,
         const std::map<std::string, LaunchSizes> &launches)
      : images(images), launches(launches) {}

  Status describe(Json &kernels) const;

private:
  std::string section() const { return "section .weft." + images.chip + ": "; }
  Status describe(const Cubin &cubin, Json &kernels,
                  std::set<std::string> &found) const;

  const ProgramFile::Images &images;
  const std::map<std::string, LaunchSizes> &launches;
};
} // namespace

Status Images::describe(const Cubin &cubin, Json &kernels,
                        std::set<std::string> &found) const {
  if (cubin.chip != images.chip)
    return inputError(section() + "expects machine code of " + images.chip +
                      ", but got code of " + cubin.chip);
  for (const CubinKernel &kernel : cubin.kernels) {
    auto launch = launches.find(kernel.name);
    const bool isGenerated = launch != launches.end();
    kernels.push(describeKernel(kernel, cubin.chip,
                                isGenerated ? &launch->second : nullptr));
    found.insert(kernel.name);
  }
  return Status::success();
}

Status Images::describe(Json &kernels) const {
  Expected<std::vector<Cubin>> cubins = readCubins(images.bytes);
  if (!cubins)
    return inputError(section() + cubins.error().message());
  std::set<std::string> found;
  for (const Cubin &cubin : *cubins)
    if (Status s = describe(cubin, kernels, found); !s)
      return s;
  for (const auto &[name, launch] : launches)
    if (!found.count(name))
      return inputError(section() + "expects the kernel " + inQuotes(name) +
                        ", which the metadata launches, but got none");
  return Status::success();
}

Expected<Json> weft::describeImages(const ProgramFile &program,
                                    const Json &metadata) {
  auto launches = readLaunches(JsonCursor(metadata, "section .weft.meta"));
  if (!launches)
    return inputError(launches.error().where());
  Json kernels = Json::array();
  for (const ProgramFile::Images &images : program.images)
    if (Status s = Images(images, *launches).describe(kernels); !s)
      return s.takeError();
  return kernels;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// "48 x 32x8": blocks of the grid and threads of a block.
static std::string launchText(const Json &kernel) {
  const Json &blocks = *kernel.find("blocks"),
             &threads = *kernel.find("threads");
  std::string text = blocks.isNull() ? "any" : blocks.compact();
  if (threads.isNull())
    return text + " x any";
  const Json::Array &sizes = threads.asArray();
  text += " x " + sizes[0].compact();
  size_t rank = 3;
  while (rank > 1 && sizes[rank - 1].asInt() == 1)
    --rank;
  for (size_t i = 1; i < rank; ++i)
    text += "x" + sizes[i].compact();
  return text;
}

void weft::printImages(const Json &kernels) {
  static constexpr const char *kLayout =
      "  {registers=registers:9} {shared=shared_bytes:7} {local=local_bytes:6} "
      "{stack=stack_bytes:6} {code=code_bytes:7}  {blocks x "
      "threads=launch:-18} "
      "{kind=kind:-12} {symbol=name}";
  std::string chip;
  for (Json kernel : kernels.asArray()) {
    if (const std::string &own = kernel.find("chip")->asString(); own != chip) {
      chip = own;
      std::printf("machine code of %s (bytes of shared memory of a block, of "
                  "local memory and stack of a thread)\n%s",
                  chip.c_str(), tableTitles(kLayout).c_str());
    }
    kernel.set("launch", launchText(kernel));
    kernel.set("kind", kernel.find("generated")->asBool() ? "generated"
                                                          : "hand-written");
    printText(tableLine(kLayout, kernel));
  }
}
