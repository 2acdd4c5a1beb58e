//===- Cubin.cpp - Facts in the machine code of CUDA devices --------------===//

#include "weft/Formats/Cubin.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <map>
#include <optional>
#include <set>

using namespace weft;

//===----------------------------------------------------------------------===//
// ELF
//===----------------------------------------------------------------------===//

namespace {

/// NVIDIA's mark of a symbol that can be launched.
constexpr unsigned char kEntry = 0x10;

constexpr uint64_t kImageAlignment = 16;

struct Section {
  Elf64_Shdr header;
  std::string_view name;
  std::string_view content; // empty if the file holds none
};

Error broken(const std::string &what) {
  return inputError("expects machine code of a CUDA device, but " + what);
}

/// Numbers and headers; every place is checked before it is read.
template <typename T> T readAt(std::string_view bytes, uint64_t place) {
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof(T));
  return value;
}

bool isInside(std::string_view bytes, uint64_t from, uint64_t count) {
  return from <= bytes.size() && count <= bytes.size() - from;
}

/// The text at `place` of a table of texts, nothing if it does not end there.
std::optional<std::string_view> textAt(std::string_view table, uint64_t place) {
  if (place >= table.size())
    return std::nullopt;
  size_t end = table.find('\0', place);
  if (end == std::string_view::npos)
    return std::nullopt;
  return table.substr(place, end - place);
}

/// Reads one cubin.
class Reader {
public:
  explicit Reader(std::string_view bytes) : bytes(bytes) {}

  Expected<Cubin> read();

private:
  Status readHeader();
  Status readSections();
  Status readSection(Section &section);
  Status nameSections();
  Status readSymbols();
  Status readSymbol(const Section &table, std::string_view names,
                    uint64_t place);
  Status readNotes(const Section &section);
  Status readNote(const Section &section, unsigned char kind,
                  std::string_view value);
  Status readShared(const Section &section);
  Status checkKernels() const;
  CubinKernel *kernelOfCode(uint32_t section);
  void grow(uint64_t from, uint64_t count) {
    cubin.bytes = std::max(cubin.bytes, from + count);
  }

  std::string_view bytes;
  Cubin cubin;
  Elf64_Ehdr header = {};
  std::vector<Section> sections;
  /// Kernels by their symbol and by the section of their code.
  std::map<uint32_t, size_t> bySymbol, byCode;
  std::set<uint32_t> withRegisters;
};

} // namespace

Status Reader::readHeader() {
  constexpr std::string_view magic("\x7f"
                                   "ELF\x02\x01\x01",
                                   7);
  if (bytes.size() < sizeof header)
    return broken("got " + std::to_string(bytes.size()) + " bytes");
  if (bytes.substr(0, magic.size()) != magic)
    return broken("got bytes that are no ELF file of 64 bits");
  header = readAt<Elf64_Ehdr>(bytes, 0);
  if (header.e_machine != EM_CUDA)
    return broken("got an ELF file of machine " +
                  std::to_string(header.e_machine));
  // The number of the chip stands in another byte since version 8.
  cubin.abiVersion = header.e_ident[EI_ABIVERSION];
  const bool isNew = cubin.abiVersion >= 8;
  cubin.chip =
      "sm_" +
      std::to_string((isNew ? header.e_flags >> 8 : header.e_flags) & 255);
  uint64_t segmentBytes = uint64_t(header.e_phentsize) * header.e_phnum;
  if (!isInside(bytes, header.e_phoff, segmentBytes) ||
      (segmentBytes != 0 && header.e_phentsize != sizeof(Elf64_Phdr)))
    return broken("its segments end after the file");
  const uint64_t sectionBytes = header.e_shnum * sizeof(Elf64_Shdr);
  if (header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shstrndx >= header.e_shnum ||
      !isInside(bytes, header.e_shoff, sectionBytes))
    return broken("its section table ends after the file");
  grow(0, sizeof header);
  if (segmentBytes != 0)
    grow(header.e_phoff, segmentBytes);
  grow(header.e_shoff, sectionBytes);
  return Status::success();
}

Status Reader::readSection(Section &section) {
  const Elf64_Shdr &own = section.header;
  if (own.sh_type == SHT_NULL || own.sh_type == SHT_NOBITS)
    return Status::success();
  if (!isInside(bytes, own.sh_offset, own.sh_size))
    return broken("section " + std::to_string(sections.size() - 1) +
                  " ends after the file");
  section.content = bytes.substr(own.sh_offset, own.sh_size);
  grow(own.sh_offset, own.sh_size);
  return Status::success();
}

Status Reader::readSections() {
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const uint64_t place = header.e_shoff + i * sizeof(Elf64_Shdr);
    sections.push_back({readAt<Elf64_Shdr>(bytes, place), {}, {}});
    if (Status s = readSection(sections.back()); !s)
      return s;
  }
  return nameSections();
}

Status Reader::nameSections() {
  const Section &names = sections[header.e_shstrndx];
  if (names.header.sh_type != SHT_STRTAB)
    return broken("its names of sections are no texts");
  for (size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].header.sh_type == SHT_NULL)
      continue;
    auto name = textAt(names.content, sections[i].header.sh_name);
    if (!name)
      return broken("section " + std::to_string(i) + " has no name");
    sections[i].name = *name;
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Status Reader::readSymbol(const Section &table, std::string_view names,
                          uint64_t place) {
  const auto symbol = readAt<Elf64_Sym>(table.content, place);
  if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !(symbol.st_other & kEntry))
    return Status::success();
  auto name = textAt(names, symbol.st_name);
  const uint32_t code = symbol.st_shndx;
  if (!name || name->empty())
    return broken("a kernel has no name");
  std::string quoted = inQuotes(std::string(*name));
  if (code >= sections.size() ||
      sections[code].name != ".text." + std::string(*name))
    return broken("the kernel " + quoted + " has no code");
  if (symbol.st_size > sections[code].content.size())
    return broken("the code of the kernel " + quoted + " ends too early");
  size_t index = cubin.kernels.size();
  if (!byCode.try_emplace(code, index).second)
    return broken("the kernel " + quoted + " is there twice");
  bySymbol[static_cast<uint32_t>(place / sizeof symbol)] = index;
  CubinKernel &kernel = cubin.kernels.emplace_back();
  kernel.name = *name;
  kernel.codeBytes = symbol.st_size;
  return Status::success();
}

Status Reader::readSymbols() {
  const Section *table = nullptr;
  for (const Section &section : sections)
    if (section.header.sh_type == SHT_SYMTAB) {
      if (table)
        return broken("it has two tables of symbols");
      table = &section;
    }
  constexpr uint64_t symbolBytes = sizeof(Elf64_Sym);
  if (!table || table->header.sh_entsize != symbolBytes ||
      table->content.size() % symbolBytes != 0 ||
      table->header.sh_link >= sections.size() ||
      sections[table->header.sh_link].header.sh_type != SHT_STRTAB)
    return broken("it has no table of symbols");
  std::string_view names = sections[table->header.sh_link].content;
  for (uint64_t at = 0; at < table->content.size(); at += symbolBytes)
    if (Status s = readSymbol(*table, names, at); !s)
      return s;
  return Status::success();
}

CubinKernel *Reader::kernelOfCode(uint32_t section) {
  auto known = byCode.find(section);
  return known == byCode.end() ? nullptr : &cubin.kernels[known->second];
}

//===----------------------------------------------------------------------===//
// Notes of the assembler
//===----------------------------------------------------------------------===//

namespace {
// A note is a form, a kind and two bytes. In form 4 these give the size in
// bytes of the value that follows.
constexpr unsigned char kFirstForm = 1, kSizedForm = 4;
constexpr uint64_t kNoteBytes = 4;
constexpr unsigned char kMaxThreads = 0x05, kNeededThreads = 0x10,
                        kFrameBytes = 0x11, kStackBytes = 0x12,
                        kRegisters = 0x2f;
} // namespace

Status Reader::readNote(const Section &section, unsigned char kind,
                        std::string_view value) {
  bool isOfKernel =
      kind == kFrameBytes || kind == kStackBytes || kind == kRegisters;
  bool isThreads = kind == kMaxThreads || kind == kNeededThreads;
  if (!isOfKernel && !isThreads)
    return Status::success();
  if (value.size() != (isOfKernel ? 8 : 12))
    return broken("a note in " + inQuotes(std::string(section.name)) + " has " +
                  std::to_string(value.size()) + " bytes");
  if (isThreads) {
    if (CubinKernel *kernel = kernelOfCode(section.header.sh_info))
      for (int i = 0; i < 3; ++i)
        kernel->threads[i] = readAt<uint32_t>(value, i * 4);
    return Status::success();
  }
  // Functions that kernels call have notes as well.
  auto known = bySymbol.find(readAt<uint32_t>(value, 0));
  if (known == bySymbol.end())
    return Status::success();
  CubinKernel &kernel = cubin.kernels[known->second];
  uint32_t number = readAt<uint32_t>(value, 4);
  if (kind == kFrameBytes)
    kernel.localBytes = number;
  else if (kind == kStackBytes)
    kernel.stackBytes = number;
  else
    kernel.registers = number;
  if (kind == kRegisters && !withRegisters.insert(known->first).second)
    return broken("the registers of the kernel " + inQuotes(kernel.name) +
                  " are there twice");
  return Status::success();
}

Status Reader::readNotes(const Section &section) {
  std::string_view rest = section.content;
  while (!rest.empty()) {
    bool isCut = rest.size() < kNoteBytes;
    unsigned char form = static_cast<unsigned char>(rest[0]);
    uint64_t count =
        !isCut && form == kSizedForm ? readAt<uint16_t>(rest, 2) : 0;
    if (isCut || form < kFirstForm || form > kSizedForm ||
        count > rest.size() - kNoteBytes)
      return broken("the notes in " + inQuotes(std::string(section.name)) +
                    " cannot be read");
    if (form == kSizedForm)
      if (Status s = readNote(section, static_cast<unsigned char>(rest[1]),
                              rest.substr(kNoteBytes, count));
          !s)
        return s;
    rest.remove_prefix(kNoteBytes + count);
  }
  return Status::success();
}

Status Reader::readShared(const Section &section) {
  // Reserved for the system.
  if (section.name.rfind(".nv.shared.reserved.", 0) == 0)
    return Status::success();
  CubinKernel *kernel = kernelOfCode(section.header.sh_info);
  if (!kernel || section.name != ".nv.shared." + kernel->name)
    return broken("the section " + inQuotes(std::string(section.name)) +
                  " belongs to no kernel");
  kernel->sharedBytes = section.header.sh_size;
  return Status::success();
}

Status Reader::checkKernels() const {
  for (const auto &[symbol, index] : bySymbol)
    if (!withRegisters.count(symbol))
      return broken("the registers of the kernel " +
                    inQuotes(cubin.kernels[index].name) + " are not there");
  return Status::success();
}

Expected<Cubin> Reader::read() {
  if (Status s = readHeader(); !s)
    return s.takeError();
  if (Status s = readSections(); !s)
    return s.takeError();
  if (Status s = readSymbols(); !s)
    return s.takeError();
  for (const Section &section : sections) {
    Status s = Status::success();
    if (section.name == ".nv.info" || section.name.rfind(".nv.info.", 0) == 0)
      s = readNotes(section);
    else if (section.name.rfind(".nv.shared.", 0) == 0)
      s = readShared(section);
    if (!s)
      return s.takeError();
  }
  if (Status s = checkKernels(); !s)
    return s.takeError();
  return std::move(cubin);
}

Expected<Cubin> weft::readCubin(std::string_view bytes) {
  return Reader(bytes).read();
}

Expected<std::vector<Cubin>> weft::readCubins(std::string_view section) {
  std::vector<Cubin> cubins;
  while (!section.empty()) {
    Expected<Cubin> cubin = readCubin(section);
    if (!cubin)
      return cubin.takeError();
    uint64_t end = (cubin->bytes + kImageAlignment - 1) / kImageAlignment *
                   kImageAlignment;
    end = std::min<uint64_t>(end, section.size());
    if (section.substr(cubin->bytes, end - cubin->bytes)
            .find_first_not_of('\0') != std::string_view::npos)
      return broken("bytes stand between two files of it");
    section.remove_prefix(end);
    cubins.push_back(std::move(*cubin));
  }
  return cubins;
}
