// SPDX-License-Identifier: Apache-2.0
#include "launcher/install.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/unique_fd.h"
#include "launcher/file_io.h"

namespace gpupool::launcher {
namespace {

// An image with nothing else in it may lack /proc; then the name given to execve is all there is.
base::UniqueFd open_self() {
  base::UniqueFd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (self.valid()) return self;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): getauxval returns addresses as numbers
  return base::UniqueFd(::open(reinterpret_cast<const char*>(::getauxval(AT_EXECFN)), O_RDONLY | O_CLOEXEC));
}

bool copy_all(int from, int to) {
  constexpr std::size_t kChunk = 1U << 20U;
  ssize_t copied = 0;
  do {
    copied = ::sendfile(to, from, nullptr, kChunk);
  } while (copied > 0 || (copied < 0 && errno == EINTR));
  return copied == 0;
}

}  // namespace

Expected<void> install_into(const std::string& directory) {
  const base::UniqueFd self = open_self();
  if (!self.valid()) return failure(with_errno("cannot open this program", errno));
  const std::string target = directory + "/gpupool-launch";
  const std::string temporary = directory + "/.gpupool-launch." + std::to_string(::getpid());
  const base::UniqueFd out(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700));
  if (!out.valid()) return failure(with_errno("cannot create " + temporary, errno));
  // By descriptor, so that the umask does not matter.
  if (copy_all(self.get(), out.get()) && ::fchmod(out.get(), 0755) == 0 && ::fsync(out.get()) == 0 &&
      ::rename(temporary.c_str(), target.c_str()) == 0) {
    return sync_directory(directory);
  }
  const int error = errno;
  ::unlink(temporary.c_str());
  return failure(with_errno("cannot install " + target, error));
}

}  // namespace gpupool::launcher
