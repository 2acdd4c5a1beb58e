//===- CubinBuilder.h - Machine code for tests ------------------*- C++ -*-===//

#ifndef WEFT_UNIT_FORMATS_CUBINBUILDER_H
#define WEFT_UNIT_FORMATS_CUBINBUILDER_H

#include <cstdint>
#include <string>
#include <vector>

namespace weft::test {

/// Builds cubins: an ELF file with the sections that the reader looks at.
class CubinBuilder {
public:
  struct Section {
    std::string name, content;
    uint32_t type = 1, link = 0, info = 0;
    uint64_t entryBytes = 0, bytes = 0; // bytes: of one without content
  };

  template <typename... Ts> static std::string pack(Ts... numbers) {
    std::string bytes;
    (bytes.append(reinterpret_cast<const char *>(&numbers), sizeof(numbers)),
     ...);
    return bytes;
  }
  static std::string note(uint8_t kind, const std::string &value) {
    return pack(uint8_t(4), kind, uint16_t(value.size())) + value;
  }
  static std::string symbol(uint32_t name, uint16_t section, uint64_t bytes,
                            uint8_t other = 0x10) {
    return pack(name, uint8_t(0x12), other, section, uint64_t(0), bytes);
  }

  /// Two kernels, `one` and `two`, and a function that can be called only.
  CubinBuilder() {
    sections = {
        {"", "", 0},
        {".shstrtab", "", 3},
        {".strtab", std::string("\0one\0two\0help\0", 14), 3},
        {".symtab",
         std::string(24, '\0') + symbol(1, 5, 64) + symbol(5, 6, 32) +
             symbol(9, 5, 8, 0),
         2, 2, 0, 24},
        {".nv.info",
         note(0x2f, pack(1u, 40u)) + note(0x11, pack(1u, 16u)) +
             note(0x12, pack(1u, 24u)) + note(0x2f, pack(2u, 255u)) +
             note(0x2f, pack(3u, 8u)),
         0x70000000},
        {".text.one", std::string(64, 'x')},
        {".text.two", std::string(48, 'y')},
        {".nv.info.one",
         pack(uint32_t(0x01580303)) + note(0x10, pack(32u, 8u, 1u)), 0x70000000,
         3, 5},
        {".nv.shared.two", "", 8, 0, 6, 0, 4096},
        {".nv.shared.reserved.0", "", 8, 0, 0, 0, 16},
    };
  }

  std::string build() const {
    std::vector<Section> all = sections;
    std::string names;
    std::vector<uint32_t> places;
    for (const Section &section : all) {
      places.push_back(uint32_t(names.size()));
      names += section.name + '\0';
    }
    all[1].content = names;
    std::string body, table;
    for (size_t i = 0; i < all.size(); ++i) {
      const Section &s = all[i];
      uint64_t size = s.type == 8 ? s.bytes : s.content.size();
      table += pack(places[i], s.type, uint64_t(0), uint64_t(0),
                    uint64_t(64 + body.size()), size, s.link, s.info,
                    uint64_t(1), s.entryBytes);
      body += s.content;
    }
    std::string head("\x7f"
                     "ELF\x02\x01\x01\x41\x08\0\0\0\0\0\0\0",
                     16);
    head +=
        pack(uint16_t(2), uint16_t(190), uint32_t(1), uint64_t(0), uint64_t(0),
             uint64_t(64 + body.size()), flags, uint16_t(64), uint16_t(56),
             uint16_t(0), uint16_t(64), uint16_t(all.size()), uint16_t(1));
    return head + body + table;
  }

  std::vector<Section> sections;
  uint32_t flags = 0x6005a04;
};

} // namespace weft::test

#endif // WEFT_UNIT_FORMATS_CUBINBUILDER_H
