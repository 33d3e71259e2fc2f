// SPDX-License-Identifier: Apache-2.0
#include "launcher/termination_log.h"

#include <fcntl.h>

#include <cerrno>

#include "base/unique_fd.h"
#include "launcher/expected.h"
#include "launcher/file_io.h"
#include "launcher/log.h"

namespace gpupool::launcher {

void write_termination_log(const std::string& path, std::string_view json) {
  // A bind mount: it cannot be replaced by rename.
  const base::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!fd.valid() && errno == ENOENT) return;
  if (!fd.valid() || !write_all(fd.get(), json)) log_line(with_errno("cannot write " + path, errno));
}

}  // namespace gpupool::launcher
