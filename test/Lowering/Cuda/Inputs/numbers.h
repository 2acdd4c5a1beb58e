// numbers.h: elements of buffers, and whether two buffers hold the same.

#ifndef NUMBERS_H
#define NUMBERS_H

#include <cmath>
#include <cstring>
#include <string>

struct Argument {
  std::string type;
  long count;
};

[[maybe_unused]] static long bytesOf(const std::string &type) {
  if (type == "f64" || type == "i64")
    return 8;
  if (type == "f32" || type == "i32")
    return 4;
  return type == "i1" ? 1 : 2;
}

static double getElement(const std::string &type, const void *from, long i) {
  if (type == "f32")
    return static_cast<const float *>(from)[i];
  if (type == "f64")
    return static_cast<const double *>(from)[i];
  if (type == "f16")
    return static_cast<const _Float16 *>(from)[i];
  if (type == "i1")
    return static_cast<const char *>(from)[i];
  if (type == "i32")
    return static_cast<const int *>(from)[i];
  if (type == "i64")
    return static_cast<const long *>(from)[i];
  unsigned bits = static_cast<const unsigned short *>(from)[i] << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

/// Largest difference that two orders of additions and a rounding may make.
static double toleranceOf(const std::string &type) {
  return type == "f32"    ? 2e-6
         : type == "f64"  ? 1e-14
         : type == "f16"  ? 1.1e-3
         : type == "bf16" ? 8e-3
                          : 0;
}

/// Whether two buffers are equal up to rounding: the same elements are not
/// finite, and the others differ by little compared with the largest one.
static bool isClose(const Argument &argument, const void *x, const void *y) {
  double scale = 0, error = 0;
  for (long i = 0; i < argument.count; ++i) {
    double a = getElement(argument.type, x, i);
    double b = getElement(argument.type, y, i);
    if (std::isfinite(a))
      scale = std::fmax(scale, std::fabs(a));
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    if (!std::isfinite(a) || !std::isfinite(b))
      return false;
    error = std::fmax(error, std::fabs(a - b));
  }
  return error <= scale * toleranceOf(argument.type);
}

#endif
