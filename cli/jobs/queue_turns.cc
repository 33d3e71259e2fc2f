// SPDX-License-Identifier: Apache-2.0
#include "jobs/queue_turns.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rfc3339.h"
#include "screen/plain_text.h"
#include "screen/table.h"

namespace gpupool::jobs {
namespace {

// Shown of a claim; the others are counted.
constexpr std::size_t kMostVictims = 5;

std::string claim_line(const OpenClaim& claim) {
  const auto count = claim.awaits.size();
  std::string text;
  for (std::size_t i = 0; i < std::min(count, kMostVictims); ++i)
    text += (i == 0 ? "" : ", ") + claim.awaits[i].value_or("another job");
  if (count > kMostVictims) text += " and " + std::to_string(count - kMostVictims) + " more";
  text += (count == 1 ? " makes room for " : " make room for ") + claim.job;
  if (claim.until) text += ", until " + base::to_rfc3339(*claim.until);
  return screen::plain_text(text) + "\n";
}

// A claim has UIDs; each is replaced by the name, if it is known.
void name_jobs(OpenClaim& claim, const std::map<std::string, std::string>& names) {
  for (auto& job : claim.awaits) {
    const auto known = names.find(*job);
    job = known == names.end() ? std::nullopt : std::optional(known->second);
  }
}

std::string listed(std::int64_t number) { return number == 0 ? "-" : std::to_string(number); }

}  // namespace

base::Result<QueueTurns> read_turns(command::Session& session, const std::string& pool, const std::string& ns,
                                    const std::stop_token& stop) {
  QueueTurns turns;
  std::map<std::string, std::string> names;  // by UID
  base::Result<void> good;
  const auto read = [&](std::string_view item) {
    const auto job = base::json::read<api::GpuJob>(item);
    if (!job) {
      good = tl::unexpected<base::Error>(job.error());
      return;
    }
    if (job->spec.pool != pool) return;
    const auto key = job->metadata.key();
    const auto& status = job->status;
    if (status.progress && status.progress->queue) turns.waiting[key] = *status.progress->queue;
    if (!status.lease) return;
    names[job->metadata.uid] = key.to_string();
    const auto& turn = status.lease->turn;
    if (!turn || turn->awaits.empty()) return;
    turns.claims.push_back({key.to_string(), {turn->awaits.begin(), turn->awaits.end()}, turn->awaits_until});
  };
  const auto all = session.client().list_items(api::GpuJob::kType, ns, {.resource_version = "0"}, read, stop);
  if (!all) return tl::unexpected<base::Error>(all.error());
  if (!good) return tl::unexpected<base::Error>(good.error());
  for (auto& claim : turns.claims) name_jobs(claim, names);
  return turns;
}

std::string claims_text(const std::vector<OpenClaim>& claims) {
  std::string text;
  for (const auto& claim : claims) text += claim_line(claim);
  return text;
}

std::string tenants_text(const api::GpuPool& pool, const screen::Terminal& terminal) {
  if (!pool.status.queue || !pool.spec.queue) return "";
  const auto& status = *pool.status.queue;
  std::string text;
  if (status.holder) {
    text = "first in line: " + status.holder->job;
    if (status.holder->latest_start)
      text += ", starts by " + base::to_rfc3339(*status.holder->latest_start) + " at the latest";
    text = screen::plain_text(text) + "\n";
  }
  if (status.tenants.empty()) return text;
  const auto& others = pool.spec.queue->others;
  screen::Table table({{"TENANT"}, {"QUEUED"}, {"HELD"}, {"GUARANTEED"}, {"LIMIT"}, {"AVERAGE"}, {"WEIGHT"}});
  for (const auto& tenant : status.tenants) {
    const auto& named = pool.spec.queue->tenants;
    const auto spec =
        std::ranges::find_if(named, [&](const api::QueueTenant& each) { return each.name == tenant.name; });
    const bool is_named = spec != named.end();
    std::string limit = "-";
    std::int64_t weight = others ? others->weight : 1;
    if (is_named) weight = spec->weight;
    if (const auto* most = is_named ? &spec->limit
                           : others ? &others->limit
                                    : nullptr;
        most != nullptr && most->has_value())
      limit = std::to_string(**most);
    table.add({{tenant.name},
               {std::to_string(tenant.queued)},
               {tenant.held},
               {is_named ? listed(spec->guaranteed) : "-"},
               {limit},
               {tenant.average_held},
               {std::to_string(weight)}});
  }
  return text + table.text(terminal);
}

std::string place_text(const api::JobQueueStatus& turn) {
  constexpr std::int64_t kExact = 10;
  if (turn.place <= 0) return "-";
  return (turn.place > kExact ? "at most " : "") + std::to_string(turn.place);
}

std::string start_text(const api::JobQueueStatus& turn) {
  if (!turn.estimated_start) return "-";
  return base::to_rfc3339(*turn.estimated_start) + " by " + turn.basis.string();
}

}  // namespace gpupool::jobs
