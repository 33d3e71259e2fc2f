// SPDX-License-Identifier: Apache-2.0
#include "jobs/outcome.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "api/v1alpha1/reasons.h"
#include "command/exit_code.h"

namespace gpupool::jobs {
namespace {

namespace exit_code = command::exit_code;

// The number that follows these words.
std::optional<int> number_after(std::string_view text, std::string_view words) {
  const auto at = text.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + words.size());
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

// As planning/workers/assess_workers.cc words a crash: what the program printed comes behind the first line.
int code_of_crash(std::string_view message) {
  static constexpr int kSignalBase = 128;
  static constexpr int kKilled = kSignalBase + 9;
  static constexpr int kMost = 255;
  const std::string_view first = message.substr(0, message.find('\n'));
  if (const auto code = number_after(first, "exited with code "); code && *code > 0 && *code <= kMost)
    return *code;
  if (const auto signal = number_after(first, "killed by signal ");
      signal && *signal > 0 && *signal < kSignalBase) {
    return kSignalBase + *signal;
  }
  return first.find("ran out of memory") == std::string_view::npos ? exit_code::kNotTheCommand : kKilled;
}

}  // namespace

int outcome_code(const api::GpuJob& job) {
  namespace reason = api::reason;
  if (job.status.phase == api::phase::kSucceeded) return exit_code::kGood;
  if (job.status.reason == reason::kDeadlineExceeded) return exit_code::kDeadline;
  if (job.status.reason == reason::kBackoffLimitExceeded) return code_of_crash(job.status.message);
  return exit_code::kNotTheCommand;
}

}  // namespace gpupool::jobs
