// SPDX-License-Identifier: Apache-2.0
#include "launcher/log.h"

#include <unistd.h>

#include <string>

#include "api/worker_result_format.h"
#include "launcher/file_io.h"

namespace gpupool::launcher {

void log_line(std::string_view line) {
  std::string text(api::worker_result::kPrintedBy);
  text += line;
  text += '\n';
  // A failure cannot be reported when stderr itself is broken.
  (void)write_all(STDERR_FILENO, text);
}

}  // namespace gpupool::launcher
