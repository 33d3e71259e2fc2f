// SPDX-License-Identifier: Apache-2.0
#include "jobs/data_story.h"

#include <cstdint>

#include "api/v1alpha1/job_data.h"
#include "screen/bytes.h"
#include "screen/plain_text.h"
#include "screen/table.h"

namespace gpupool::jobs {
namespace {

using screen::Colour;

Colour colour_of_state(std::string_view state) {
  if (state == api::source_state::kFailed) return Colour::kRed;
  if (state == api::transfer_state::kIncomplete) return Colour::kYellow;
  return state == api::transfer_state::kSkipped ? Colour::kFaint : Colour::kGreen;
}

std::string count_of(std::size_t number, const char* one, const char* many) {
  return std::to_string(number) + " " + (number == 1 ? one : many);
}

std::string of_attempt(std::int64_t attempt) { return ", attempt " + std::to_string(attempt); }

// "sha256:0123456789ab"
std::string short_digest(const std::string& digest) {
  static constexpr std::size_t kShown = 12;
  const auto colon = digest.find(':');
  return colon == std::string::npos ? digest : digest.substr(0, colon + 1 + kShown);
}

}  // namespace

std::string source_text(const api::GpuJob& job, const screen::Terminal& terminal) {
  if (!job.spec.source) return "";
  const auto& status = job.status.source;
  if (!status) {
    const auto source = base::json::read<api::JobSource>(job.spec.source->text);
    return "Source: not fetched yet" +
           (source ? ", " + count_of(source->items.size(), "item", "items") : std::string()) + "\n";
  }
  std::string text =
      "Source: " +
      screen::painted(screen::plain_text(status->state), colour_of_state(status->state), terminal) + " in " +
      std::to_string(status->seconds) + " s, " + screen::bytes_text(status->bytes) +
      of_attempt(status->attempt) + "\n";
  if (status->items.empty()) return text;
  screen::Table table({{"  PATH"}, {"FILES"}, {"SIZE"}, {"DIGEST"}, {"MESSAGE"}});
  for (const auto& item : status->items) {
    table.add({{"  " + item.path},
               {std::to_string(item.files)},
               {screen::bytes_text(item.bytes)},
               {short_digest(item.digest)},
               {item.message}});
  }
  return text + table.text(terminal);
}

std::string results_text(const api::GpuJob& job, const screen::Terminal& terminal) {
  if (!job.spec.results) return "";
  const auto& status = job.status.results;
  if (!status) {
    const auto wanted = base::json::read<std::vector<api::JobResult>>(job.spec.results->text);
    return "Results: not saved yet" +
           (wanted ? ", " + count_of(wanted->size(), "place", "places") : std::string()) + "\n";
  }
  std::string text =
      "Results: " +
      screen::painted(screen::plain_text(status->state), colour_of_state(status->state), terminal) +
      of_attempt(status->attempt) + "\n";
  if (status->items.empty()) return text;
  screen::Table table({{"  FROM"}, {"STATE"}, {"TO"}, {"FILES"}, {"SIZE"}, {"MESSAGE"}});
  for (const auto& item : status->items) {
    table.add({{"  " + item.path},
               {item.state, colour_of_state(item.state)},
               {item.to},
               {std::to_string(item.files)},
               {screen::bytes_text(item.bytes)},
               {item.message}});
  }
  return text + table.text(terminal);
}

}  // namespace gpupool::jobs
