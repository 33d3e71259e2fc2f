#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpupool::net {

// Cuts a byte stream into lines that ended in '\n'; a rest without one is never delivered, because it may be
// truncated. Not thread-safe.
class LineSplitter {
 public:
  // Kubernetes' own frame limit for watch events is 16 MiB (apimachinery, streaming serializer).
  explicit LineSplitter(std::size_t max_line_bytes = std::size_t{16} << 20);

  // Calls `on_line` for every complete line, without its '\n'; empty lines are skipped. Stops early, without
  // error, when on_line returns false; the answer is then false and the rest of `piece` is lost. kParse when
  // a line is longer than the limit.
  base::Result<bool> feed(std::string_view piece, const std::function<bool(std::string_view)>& on_line);

 private:
  std::size_t max_;
  std::string buffer_;  // the beginning of a line whose end has not come yet
};

}  // namespace gpupool::net
