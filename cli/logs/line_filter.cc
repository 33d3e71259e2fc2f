// SPDX-License-Identifier: Apache-2.0
#include "logs/line_filter.h"

#include <re2/re2.h>

namespace gpupool::logs {

struct LineFilter::Pattern {
  explicit Pattern(const std::string& text) : compiled(text, RE2::Quiet) {}
  RE2 compiled;
};

base::Result<LineFilter> LineFilter::make(const std::string& pattern) {
  auto compiled = std::make_unique<Pattern>(pattern);
  if (!compiled->compiled.ok()) {
    return base::fail(base::ErrorCode::kInvalidArgument, "--grep: " + compiled->compiled.error());
  }
  return LineFilter(std::move(compiled));
}

LineFilter::LineFilter(std::unique_ptr<Pattern> pattern) : pattern_(std::move(pattern)) {}
LineFilter::LineFilter(LineFilter&&) noexcept = default;
LineFilter& LineFilter::operator=(LineFilter&&) noexcept = default;
LineFilter::~LineFilter() = default;

bool LineFilter::matches(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern_->compiled);
}

}  // namespace gpupool::logs
