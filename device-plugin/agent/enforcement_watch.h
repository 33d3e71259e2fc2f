// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_node.h"
#include "base/clock.h"
#include "base/latest.h"
#include "base/log.h"
#include "enforcement/audit.h"
#include "enforcement/counted_container.h"
#include "enforcement/region_store.h"
#include "inventory/gpu_source.h"
#include "kubelet/limits_store.h"
#include "kubelet/pod_resources.h"
#include "slices/table.h"

namespace gpupool::agent {

// Finds the containers whose limits are enforced, reads what they say that they use, and compares it with
// what the driver says. That is done every five seconds; new containers are found and read at once. Used by
// the agent's thread; not thread-safe.
class EnforcementWatch {
 public:
  // checkpoint: the kubelet's file of allocations; proc: where procfs is mounted. Everything referenced
  // outlives it.
  EnforcementWatch(const enforcement::RegionStore& regions, const kubelet::LimitsStore& limits,
                   inventory::GpuSource& source, std::string checkpoint, std::string proc,
                   const base::Log& log);

  void look(const std::vector<kubelet::Holding>& holdings, const slices::Table& table, base::SteadyTime now,
            base::WallTime wall);

  // As of the last look; read by the thread of waits.
  const base::Latest<std::vector<enforcement::Container>>& containers() const { return containers_; }
  const std::vector<enforcement::CountedContainer>& counted() const { return counted_; }
  // As of the last comparison.
  const std::vector<enforcement::Finding>& findings() const { return findings_; }
  // Those of the findings that go into the GpuNode.
  std::vector<api::GpuNodeExcess> excesses() const;
  // Where limits are not enforced, for the owner of the node.
  std::vector<std::string> notes() const;

 private:
  void find(const std::vector<kubelet::Holding>& holdings, const slices::Table& table);
  void name_pods(std::vector<enforcement::Container>& containers,
                 const std::vector<kubelet::Holding>& holdings);
  std::map<std::string, enforcement::DriverFigures> ask_driver(const std::vector<enforcement::Share>& shares);
  void log_findings(const std::vector<enforcement::Finding>& findings);
  void log_states();

  const enforcement::RegionStore& regions_;
  const kubelet::LimitsStore& limits_;
  inventory::GpuSource& source_;
  const std::string checkpoint_;
  const std::string proc_;
  base::Log log_;
  base::Latest<std::vector<enforcement::Container>> containers_;
  std::vector<kubelet::Holding> found_of_;  // what containers_ was made of
  std::set<std::string> others_use_;        // GPUs with containers whose limits are not enforced
  std::optional<base::SteadyTime> last_;
  enforcement::Auditor auditor_;
  std::vector<enforcement::CountedContainer> counted_;
  std::vector<enforcement::Finding> findings_;
  std::map<std::string, std::string> off_;  // why limits are not enforced, by container
  std::string checkpoint_problem_;
};

}  // namespace gpupool::agent
