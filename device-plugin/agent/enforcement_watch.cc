// SPDX-License-Identifier: Apache-2.0
#include "agent/enforcement_watch.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "allocation/allocate.h"
#include "allocation/devices.h"
#include "base/read_file.h"
#include "enforcement/kubelet_checkpoint.h"
#include "enforcement/process_owner.h"
#include "enforcement/shares.h"

namespace gpupool::agent {

namespace {

using enforcement::Container;
using enforcement::Finding;

constexpr auto kAuditPace = std::chrono::seconds(5);
constexpr std::size_t kMaxExcesses = 32;  // as the definition of GpuNode says
constexpr std::uint64_t kMib = 1024 * 1024;

std::vector<Container::Device> limited_devices(const kubelet::Holding& holding, const slices::Table& table) {
  std::vector<Container::Device> found;
  for (slices::Resource resource : table.resources) {
    if (resource.name != holding.resource) continue;
    for (auto& slice : resource.slices) slice.healthy = true;  // its limits do not depend on the GPU's health
    const auto devices = allocation::devices_of(resource, holding.ids);
    if (!devices) continue;
    for (const auto& device : *devices) {
      found.push_back({device.visible, device.gpu->limited ? device.memory_mib : 0, device.gpu->enforcement});
    }
  }
  return found;
}

// By what makes it the same trouble.
auto identity(const Finding& finding) {
  return std::tie(finding.kind, finding.gpu, finding.ns, finding.pod, finding.pod_uid);
}

bool has(const std::vector<Finding>& findings, const Finding& wanted) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& one) { return identity(one) == identity(wanted); });
}

std::int64_t mib(std::uint64_t bytes) { return static_cast<std::int64_t>(bytes / kMib); }

}  // namespace

EnforcementWatch::EnforcementWatch(const enforcement::RegionStore& regions,
                                   const kubelet::LimitsStore& limits, inventory::GpuSource& source,
                                   std::string checkpoint, std::string proc, const base::Log& log)
    : regions_(regions),
      limits_(limits),
      source_(source),
      checkpoint_(std::move(checkpoint)),
      proc_(std::move(proc)),
      log_(log) {}

void EnforcementWatch::look(const std::vector<kubelet::Holding>& holdings, const slices::Table& table,
                            base::SteadyTime now, base::WallTime wall) {
  const bool due = !last_ || now - *last_ >= kAuditPace;
  // Again with the same holdings: a pod may have taken the place of another with its name.
  if (due || holdings != found_of_) {
    find(holdings, table);
    found_of_ = holdings;
  }
  if (!due) return;
  last_ = now;
  const auto containers = containers_.get();
  counted_ = enforcement::count_containers(regions_, *containers);
  const auto shares = enforcement::shares_of(counted_);
  auto findings = auditor_.round(shares, ask_driver(shares), wall);
  log_news(findings);
  findings_ = std::move(findings);
}

void EnforcementWatch::find(const std::vector<kubelet::Holding>& holdings, const slices::Table& table) {
  std::vector<Container> containers;
  std::vector<kubelet::Holding> of;
  for (const auto& holding : holdings) {
    if (!limits_.has(allocation::enforced_limits_name(holding.resource, holding.ids))) continue;
    containers.push_back({holding.ns, holding.pod, "", holding.container,
                          allocation::region_name(holding.resource, holding.ids),
                          limited_devices(holding, table)});
    of.push_back(holding);
  }
  if (!containers.empty()) name_pods(containers, of);
  if (containers != *containers_.get()) containers_.set(std::move(containers));
}

void EnforcementWatch::name_pods(std::vector<Container>& containers,
                                 const std::vector<kubelet::Holding>& holdings) {
  const auto text = base::read_file(checkpoint_);
  auto uids = text ? enforcement::read_checkpoint(*text)
                   : base::Result<enforcement::PodUids>(tl::unexpected<base::Error>(text.error()));
  const std::string problem = uids ? std::string() : uids.error().message;
  if (problem != std::exchange(checkpoint_problem_, problem) && !uids) {
    log_.warning("Use of memory cannot be ascribed to pods", {{"error", problem}});
  }
  if (!uids) return;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    if (holdings[i].ids.empty()) continue;
    const auto found = uids->find({holdings[i].resource, holdings[i].ids.front()});
    if (found != uids->end()) containers[i].pod_uid = found->second;
  }
}

std::map<std::string, enforcement::DriverFigures> EnforcementWatch::ask_driver(
    const std::vector<enforcement::Share>& shares) {
  std::map<std::string, enforcement::DriverFigures> figures;
  for (const auto& share : shares) {
    if (figures.contains(share.gpu)) continue;
    const auto usage = source_.usage(share.gpu);
    const auto processes = source_.processes(share.gpu);
    if (!usage && !processes) continue;
    auto& gpu = figures[share.gpu];
    if (usage && usage->memory_used_mib) {
      gpu.used_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(*usage->memory_used_mib, 0)) * kMib;
    }
    if (!processes) continue;
    for (const auto& process : *processes) {
      gpu.processes.push_back({enforcement::pod_of_process(process.pid, proc_), process.memory_bytes});
    }
  }
  return figures;
}

void EnforcementWatch::log_news(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    if (has(findings_, finding)) continue;
    const bool over = finding.kind == Finding::Kind::kOverLimit;
    log_.warning(over ? "More memory of a GPU is used than the slices have"
                      : "Memory of a GPU is used that the limiter has not counted",
                 {{"gpu", finding.gpu},
                  {"namespace", finding.ns},
                  {"pod", finding.pod},
                  {"usedMiB", mib(finding.used_bytes)},
                  {over ? "limitMiB" : "countedMiB", mib(finding.other_bytes)}});
  }
  for (const Finding& finding : findings_) {
    if (has(findings, finding)) continue;
    log_.info("The use of a GPU's memory fits again",
              {{"gpu", finding.gpu}, {"namespace", finding.ns}, {"pod", finding.pod}});
  }
}

std::vector<api::GpuNodeExcess> EnforcementWatch::excesses() const {
  std::vector<api::GpuNodeExcess> excesses;
  for (const Finding& finding : findings_) {
    if (finding.kind != Finding::Kind::kOverLimit || excesses.size() == kMaxExcesses) continue;
    excesses.push_back({finding.ns, finding.pod, finding.pod_uid, finding.gpu, mib(finding.used_bytes),
                        mib(finding.other_bytes), finding.since, finding.end});
  }
  return excesses;
}

}  // namespace gpupool::agent
