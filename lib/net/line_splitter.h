// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpupool::net {

// Cuts a byte stream into lines that end in '\n'. A last line without '\n' is never delivered, because it may
// be truncated. Not thread-safe.
class LineSplitter {
 public:
  // The default is Kubernetes' own limit for a watch event, 16 MiB (apimachinery, streaming serializer).
  explicit LineSplitter(std::size_t max_line_bytes = std::size_t{16} << 20);

  // Calls `on_line` for each complete line, without its '\n'. Skips empty lines. If on_line returns false,
  // returns false and drops the rest of `piece`. Returns kParse if a line is longer than the limit.
  base::Result<bool> feed(std::string_view piece, const std::function<bool(std::string_view)>& on_line);

 private:
  std::size_t max_;
  std::string buffer_;  // the beginning of an incomplete line
};

}  // namespace gpupool::net
