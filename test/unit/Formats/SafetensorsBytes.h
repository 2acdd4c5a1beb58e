//===- SafetensorsBytes.h - Bytes of .safetensors files ---------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_FORMATS_SAFETENSORSBYTES_H
#define WEFT_TEST_UNIT_FORMATS_SAFETENSORSBYTES_H

#include <cstdint>
#include <string>

/// A file with this header text and data.
inline std::string fileBytes(const std::string &header,
                             const std::string &data) {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<const char *>(&length), 8) + header +
         data;
}

/// The header's text of a tensor.
inline std::string entry(const std::string &dtype, const std::string &shape,
                         const std::string &offsets) {
  return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

#endif // WEFT_TEST_UNIT_FORMATS_SAFETENSORSBYTES_H
