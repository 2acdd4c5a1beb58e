//===- Descriptor.cpp - An open file that closes itself -------------------===//

#include "weft/Base/Descriptor.h"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace weft {

int Descriptor::close() {
  int closing = std::exchange(fd, -1);
  if (closing < 0 || ::close(closing) == 0 || errno == EINTR)
    return 0;
  return errno;
}

bool isGone(int fd, const std::string &path) {
  struct stat there, open;
  if (::stat(path.c_str(), &there) != 0)
    return errno == ENOENT;
  return ::fstat(fd, &open) == 0 &&
         (there.st_dev != open.st_dev || there.st_ino != open.st_ino);
}

} // namespace weft
