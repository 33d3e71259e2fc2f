// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/worker_result_format.h"
#include "launcher/report_file.h"

namespace gpupool::launcher {

// Exit codes of the launcher itself, as a shell or timeout(1) gives them.
inline constexpr int kExitInterrupted = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitMasterTimeout = 124;
inline constexpr int kExitLauncherError = 125;
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitSignalBase = 128;

enum class Outcome {
  kExited,       // the command ended by itself; exit_code is its code
  kSignaled,     // the command was killed; exit_code is 128 + signal
  kNotStarted,   // the command never ran
  kInterrupted,  // the command was started, and the launcher died before the end
};

// The outcome's text in a result.
std::string_view name_of(Outcome outcome);

// What the operator reads, in the format of api/worker_result_format.h.
//
// REQUIRES: texts are valid UTF-8 (see clean_text).
struct Result {
  int attempt = 0;
  int rank = 0;
  Outcome outcome = Outcome::kNotStarted;
  int exit_code = 0;
  std::optional<int> signal;
  std::optional<int> stop_signal;  // told to stop from outside before the end, which says little then
  Report report;                   // of the last checkpoint
  std::string reason;
  std::string message;
  std::vector<std::string> metrics;        // as Metrics::texts() gives them
  std::vector<std::string> other_metrics;  // names
  std::string tail;
  std::string started_at;   // RFC 3339; empty: never started, left out
  std::string finished_at;  // RFC 3339
};

inline constexpr int kMinResultBytes = api::worker_result::kMinBytes;
inline constexpr int kMaxResultBytes = api::worker_result::kMaxBytes;
inline constexpr std::size_t kMaxTailBytes = api::worker_result::kMaxTailBytes;

// The result as one line of JSON of at most `limit` bytes. Outcome, exit code, signals, attempt and rank are
// always there. Where space is short, the tail loses lines from its start first; then metrics are left out,
// last first; then the message and then the reason are cut at their end; then the report is left out; then
// the times, first the start.
//
// REQUIRES: limit >= kMinResultBytes.
std::string to_json(const Result& result, std::size_t limit);

// The exit code in a result written by to_json; nothing when `json` is not one.
std::optional<int> exit_code_in(std::string_view json);

// The text of the outcome in such a result; empty when there is none.
std::string_view outcome_in(std::string_view json);

}  // namespace gpupool::launcher
