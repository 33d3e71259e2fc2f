// SPDX-License-Identifier: Apache-2.0
#include "launcher/result.h"

#include <nlohmann/json.hpp>

#include "launcher/clean_text.h"
#include "planning/workers/worker_result.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace launcher = gpupool::launcher;

// What the launcher leaves, the operator reads: how long it may be, attempt and exit code, a byte each, then
// reason and message, a line each, then the tail.
void fuzz_launcher_result(std::string_view input) {
  const std::size_t limit = launcher::kMinResultBytes + 11 * std::size_t{gpupool::fuzz::take_byte(input)};
  launcher::Result result;
  result.attempt = static_cast<int>(gpupool::fuzz::take_byte(input)) << 20;
  result.exit_code = static_cast<int>(gpupool::fuzz::take_byte(input));
  result.outcome = result.exit_code % 2 == 0 ? launcher::Outcome::kExited : launcher::Outcome::kNotStarted;
  result.reason = launcher::clean_text(gpupool::fuzz::take_line(input));
  result.message = launcher::clean_text(gpupool::fuzz::take_line(input));
  result.tail = launcher::clean_text(input);
  result.finished_at = "2026-01-02T03:04:05Z";

  const auto json = launcher::to_json(result, limit);
  require(json.size() <= limit, "it fits into a termination message");
  require(gpupool::fuzz::is_json(json), "it is JSON");
  require(launcher::exit_code_in(json) == result.exit_code, "the launcher reads its own");
  const auto read = gpupool::planning::parse_worker_result(json);
  require(read.has_value(), "the operator reads it");
  require(read->exit_code == result.exit_code && read->attempt == result.attempt, "the numbers survive");
  require(result.message.starts_with(read->message) && result.reason.starts_with(read->reason),
          "texts are cut at their end");
  require(result.tail.find(read->tail) != std::string::npos, "the tail is a piece of the output");

  // After a crash of the launcher the file may hold anything.
  const auto code = launcher::exit_code_in(input);
  if (code) require(*code >= 0 && *code <= 255, "an exit code is a byte");
}
