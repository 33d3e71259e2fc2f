// SPDX-License-Identifier: Apache-2.0
#include "enforcement/audit.h"

#include <algorithm>

namespace gpupool::enforcement {
namespace {

constexpr int kRoundsToBelieve = 2;

using Kind = Finding::Kind;

std::string key_of(const Finding& finding) {
  return finding.gpu + "\n" + std::to_string(static_cast<int>(finding.kind)) + "\n" + finding.ns + "\n" +
         finding.pod + "\n" + finding.pod_uid;
}

Finding about(const Share& share, Kind kind, std::uint64_t used, std::uint64_t other, bool end) {
  return {kind, share.ns, share.pod, share.pod_uid, share.gpu, used, other, {}, end};
}

// Without the PIDs of the node the driver lists no process at all.
bool tells_processes(const DriverFigures& figures) {
  return std::any_of(figures.processes.begin(), figures.processes.end(),
                     [](const DriverFigures::Process& process) { return process.bytes.has_value(); });
}

std::uint64_t used_by(const std::string& pod_uid, const DriverFigures& figures) {
  std::uint64_t used = 0;
  for (const DriverFigures::Process& process : figures.processes) {
    if (process.pod_uid == pod_uid) used += process.bytes.value_or(0);
  }
  return used;
}

// By the figures of each process. A pod that exceeds its limit is not told off for uncounted memory as well.
void judge_processes(const Share& share, const DriverFigures& figures, std::vector<Finding>& wrong) {
  const std::uint64_t used = used_by(share.pod_uid, figures);
  if (used > share.limit_bytes + share.tolerance_bytes) {
    wrong.push_back(about(share, Kind::kOverLimit, used, share.limit_bytes, share.end));
  } else if (share.counted_bytes && used > *share.counted_bytes &&
             used - *share.counted_bytes > share.tolerance_bytes) {
    wrong.push_back(about(share, Kind::kUncounted, used, *share.counted_bytes, false));
  }
}

// By the figure of the whole GPU. Memory of programs that are no pod's is in it too, so nobody is ended for
// it.
void judge_gpu(const std::vector<Share>& shares, std::uint64_t used, std::vector<Finding>& wrong) {
  std::uint64_t limit = 0;
  std::uint64_t tolerance = 0;
  for (const Share& share : shares) {
    limit += share.limit_bytes;
    tolerance = std::max(tolerance, share.tolerance_bytes);
  }
  if (used <= limit + tolerance) return;
  Share whose = shares.front();
  if (shares.size() > 1) whose.ns = whose.pod = whose.pod_uid = "";
  wrong.push_back(about(whose, Kind::kOverLimit, used, limit, false));
}

void judge(const std::vector<Share>& shares, const DriverFigures& figures, std::vector<Finding>& wrong) {
  const bool known =
      std::all_of(shares.begin(), shares.end(), [](const Share& share) { return !share.pod_uid.empty(); });
  if (known && tells_processes(figures)) {
    for (const Share& share : shares) judge_processes(share, figures, wrong);
  } else if (figures.used_bytes) {
    judge_gpu(shares, *figures.used_bytes, wrong);
  }
}

}  // namespace

std::vector<Finding> Auditor::round(const std::vector<Share>& shares,
                                    const std::map<std::string, DriverFigures>& figures, base::WallTime now) {
  std::map<std::string, std::vector<Share>> by_gpu;
  for (const Share& share : shares) by_gpu[share.gpu].push_back(share);
  std::map<std::string, Suspicion> next;
  for (const auto& [gpu, sharers] : by_gpu) {
    const auto found = figures.find(gpu);
    if (found == figures.end()) {
      for (const auto& [key, suspicion] : suspicions_) {
        if (suspicion.finding.gpu == gpu) next.emplace(key, suspicion);
      }
      continue;
    }
    std::vector<Finding> wrong;
    judge(sharers, found->second, wrong);
    for (Finding& finding : wrong) {
      const std::string key = key_of(finding);
      const auto before = suspicions_.find(key);
      finding.since = before == suspicions_.end() ? now : before->second.finding.since;
      if (before != suspicions_.end()) {
        finding.used_bytes = std::max(finding.used_bytes, before->second.finding.used_bytes);
      }
      const int rounds = before == suspicions_.end() ? 0 : before->second.rounds;
      next.emplace(key, Suspicion{std::move(finding), std::min(rounds + 1, kRoundsToBelieve)});
    }
  }
  suspicions_ = std::move(next);
  std::vector<Finding> findings;
  for (const auto& [key, suspicion] : suspicions_) {
    if (suspicion.rounds >= kRoundsToBelieve) findings.push_back(suspicion.finding);
  }
  return findings;
}

}  // namespace gpupool::enforcement
