//===- Descriptor.h - An open file that closes itself -----------*- C++ -*-===//

#ifndef WEFT_BASE_DESCRIPTOR_H
#define WEFT_BASE_DESCRIPTOR_H

#include <string>
#include <utility>

namespace weft {

/// A file descriptor and its only owner.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd(fd) {}
  Descriptor(Descriptor &&other) noexcept { std::swap(fd, other.fd); }
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }
  /// Closes it now, if it is open: 0, or what went wrong. Linux closes a file
  /// even when a signal interrupts it, which is no error.
  int close();

private:
  int fd = -1;
};

/// Whether a path surely leads no longer to the descriptor, of a lock for one:
/// what cannot be asked (no permission, an I/O error) is no reason to begin
/// again, which would never end where it stays so.
bool isGone(int fd, const std::string &path);

} // namespace weft

#endif // WEFT_BASE_DESCRIPTOR_H
