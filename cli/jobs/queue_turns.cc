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

struct OpenClaim {
  std::string job;
  std::vector<std::string> awaits;
  std::optional<base::WallTime> until;
};

std::string claim_line(const OpenClaim& claim, const std::map<std::string, std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(claim.awaits.size(), kMostVictims); ++i) {
    const auto known = names.find(claim.awaits[i]);
    text += (i == 0 ? "" : ", ") + (known == names.end() ? "another job" : known->second);
  }
  if (claim.awaits.size() > kMostVictims)
    text += " and " + std::to_string(claim.awaits.size() - kMostVictims) + " more";
  text += (claim.awaits.size() == 1 ? " makes room for " : " make room for ") + claim.job;
  if (claim.until) text += ", until " + base::to_rfc3339(*claim.until);
  return screen::plain_text(text) + "\n";
}

std::string listed(std::int64_t number) { return number == 0 ? "-" : std::to_string(number); }

}  // namespace

base::Result<QueueTurns> read_turns(command::Session& session, const std::string& pool, const std::string& ns,
                                    const std::stop_token& stop) {
  QueueTurns turns;
  std::vector<OpenClaim> claims;
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
    if (turn && !turn->awaits.empty()) claims.push_back({key.to_string(), turn->awaits, turn->awaits_until});
  };
  const auto all = session.client().list_items(api::GpuJob::kType, ns, {.resource_version = "0"}, read, stop);
  if (!all) return tl::unexpected<base::Error>(all.error());
  if (!good) return tl::unexpected<base::Error>(good.error());
  for (const auto& claim : claims) turns.claims += claim_line(claim, names);
  return turns;
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
