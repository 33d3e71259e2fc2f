// SPDX-License-Identifier: Apache-2.0
#include "agent/enforcement_watch.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "allocation/allocate.h"
#include "allocation/devices.h"
#include "base/read_file.h"
#include "enforcement/kubelet_checkpoint.h"
#include "enforcement/mebibytes.h"
#include "enforcement/process_owner.h"
#include "enforcement/shares.h"

namespace gpupool::agent {

namespace {

using enforcement::Container;
using enforcement::Finding;
using enforcement::mib_of_bytes;

constexpr auto kAuditPace = std::chrono::seconds(5);
constexpr std::size_t kMaxExcesses = 32;  // as the definition of GpuNode says

std::vector<Container::Device> limited_devices(const kubelet::Holding& holding, const slices::Table& table) {
  std::vector<Container::Device> found;
  for (const slices::Resource& resource : table.resources) {
    if (resource.name != holding.resource) continue;
    const auto devices = allocation::held_devices(resource, holding.ids);
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

std::string name_of(const Container& container) {
  return container.ns + "/" + container.pod + " (" + container.name + ")";
}

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
  const bool is_new = holdings != found_of_;
  if (!due && !is_new) return;
  find(holdings, table);
  found_of_ = holdings;
  counted_ = enforcement::count_containers(regions_, *containers_.get());
  log_states();
  if (!due) return;
  last_ = now;
  const auto shares = enforcement::shares_of(counted_);
  auto findings = auditor_.round(shares, ask_driver(shares), wall);
  log_findings(findings);
  findings_ = std::move(findings);
}

void EnforcementWatch::find(const std::vector<kubelet::Holding>& holdings, const slices::Table& table) {
  std::vector<Container> containers;
  std::vector<kubelet::Holding> of;
  others_use_.clear();
  for (const auto& holding : holdings) {
    auto devices = limited_devices(holding, table);
    if (limits_.has(allocation::enforced_limits_name(holding.resource, holding.ids))) {
      containers.push_back({holding.ns, holding.pod, "", holding.container,
                            allocation::region_name(holding.resource, holding.ids), std::move(devices)});
      of.push_back(holding);
    } else {
      for (auto& device : devices) others_use_.insert(std::move(device.uuid));
    }
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
    // What a GPU uses as a whole says nothing where some may use what they like.
    if (usage && usage->memory_used_mib && !others_use_.contains(share.gpu)) {
      gpu.used_bytes = enforcement::bytes_of_mib(*usage->memory_used_mib);
    }
    if (!processes) continue;
    for (const auto& process : *processes) {
      gpu.processes.push_back({enforcement::pod_of_process(process.pid, proc_), process.memory_bytes});
    }
  }
  return figures;
}

void EnforcementWatch::log_findings(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    if (has(findings_, finding)) continue;
    const bool over = finding.kind == Finding::Kind::kOverLimit;
    log_.warning(over ? "More memory of a GPU is used than the slices have"
                      : "Memory of a GPU is used that the limiter has not counted",
                 {{"gpu", finding.gpu},
                  {"namespace", finding.ns},
                  {"pod", finding.pod},
                  {"usedMiB", mib_of_bytes(finding.used_bytes)},
                  {over ? "limitMiB" : "countedMiB", mib_of_bytes(finding.other_bytes)}});
  }
  for (const Finding& finding : findings_) {
    if (has(findings, finding)) continue;
    log_.info("The use of a GPU's memory fits again",
              {{"gpu", finding.gpu}, {"namespace", finding.ns}, {"pod", finding.pod}});
  }
}

void EnforcementWatch::log_states() {
  std::map<std::string, std::string> off;
  for (const auto& one : counted_) {
    if (auto why = enforcement::why_off(one); !why.empty()) off[name_of(one.container)] = std::move(why);
  }
  for (const auto& [container, why] : off) {
    if (off_.contains(container)) continue;
    log_.error("Limits of a container are not enforced", {{"container", container}, {"reason", why}});
  }
  for (const auto& [container, why] : off_) {
    if (off.contains(container)) continue;
    log_.info("Limits of a container are enforced again, or it has ended", {{"container", container}});
  }
  off_ = std::move(off);
}

std::vector<std::string> EnforcementWatch::notes() const {
  std::vector<std::string> notes;
  if (auto problem = regions_.problem(); !problem.empty()) notes.push_back(std::move(problem));
  for (const auto& [container, why] : off_) {
    notes.push_back("limits of " + container + " are not enforced: " + why);
  }
  return notes;
}

std::vector<api::GpuNodeExcess> EnforcementWatch::excesses() const {
  std::vector<api::GpuNodeExcess> excesses;
  for (const Finding& finding : findings_) {
    if (finding.kind != Finding::Kind::kOverLimit || excesses.size() == kMaxExcesses) continue;
    excesses.push_back({finding.ns, finding.pod, finding.pod_uid, finding.gpu,
                        mib_of_bytes(finding.used_bytes), mib_of_bytes(finding.other_bytes), finding.since,
                        finding.end});
  }
  return excesses;
}

}  // namespace gpupool::agent
