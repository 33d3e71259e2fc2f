// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpupool::logs {

// Lines that contain a match of a regular expression (RE2's syntax). Thread-safe.
class LineFilter {
 public:
  // kInvalidArgument if the pattern is none.
  static base::Result<LineFilter> make(const std::string& pattern);
  LineFilter(LineFilter&&) noexcept;
  LineFilter& operator=(LineFilter&&) noexcept;
  ~LineFilter();

  bool matches(std::string_view text) const;

 private:
  struct Pattern;
  explicit LineFilter(std::unique_ptr<Pattern> pattern);
  std::unique_ptr<Pattern> pattern_;
};

}  // namespace gpupool::logs
