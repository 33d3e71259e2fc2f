// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "agent/enforcement_watch.h"
#include "agent/gpu_watch.h"
#include "agent/inbox.h"
#include "agent/limits_keeper.h"
#include "agent/plugin_set.h"
#include "agent/pod_watch.h"
#include "agent/settings_keeper.h"
#include "agent/snapshot.h"
#include "agent/state_file.h"
#include "agent/usage_watch.h"
#include "base/clock.h"
#include "base/latest.h"
#include "base/log.h"
#include "enforcement/wait_loop.h"
#include "health/health_tracker.h"
#include "inventory/gpu_source.h"
#include "kubelet/plugin_context.h"
#include "kubelet/rules.h"
#include "slices/latest_table.h"
#include "slices/plan_table.h"

namespace gpupool::agent {

struct AgentOptions {
  std::string node;
  std::string config;           // file; empty: defaults
  settings::Given given;        // flags and environment
  std::string state_directory;  // health, table and counters of use over restarts
  std::string checkpoint;       // the kubelet's file of allocations
  std::string proc = "/proc";
  allocation::NodePaths paths;
  slices::ResourceNames resource_names;
};

// The main loop of the device plugin. Each pass ("look") goes through these steps:
//
//   1. take over a changed configuration file (SettingsKeeper)
//   2. list and probe the GPUs, note reported errors (GpuWatch, HealthTracker), read and count their use
//      (UsageWatch)
//   3. ask the kubelet which devices containers hold (PodWatch)
//   4. plan the table of slices from all that and publish it (slices::plan_table, LatestTable)
//   5. serve the table's resources to the kubelet (PluginSet), keep the limits files (LimitsKeeper)
//   6. compare what containers with enforced limits say with what the driver says (EnforcementWatch)
//   7. save health and table, hand the facts to metrics, probes and the GpuNode report
//
// A look is made every second, and at once on an error of a GPU, on a changed configuration and shortly after
// an allocation (Inbox). The look after an allocation leaves out step 2, because an allocation changes
// nothing about the GPUs; it does not put off the next look at them. No failure ends the loop: what is wrong
// becomes part of the facts.
//
// Not thread-safe: run(), or start() and look(), are called by one thread. The answers to the kubelet are
// given on gRPC's threads, from what this loop published.
class Agent {
 public:
  // Everything outlives the agent. It is the only writer of `latest_table`, `rules` and `snapshot`.
  struct Parts {
    inventory::GpuSource& source;
    const health::ErrorCatalogue& errors;  // of the events of `source`
    kubelet::PodResources& pods;
    slices::LatestTable& latest_table;
    base::Latest<kubelet::Rules>& rules;
    const kubelet::PluginContext& context;
    PluginSet& plugins;
    Inbox& inbox;
    base::Latest<Snapshot>& snapshot;
    std::function<void(report::Facts)> report;
    base::Clock& clock;
    base::Metrics& metrics;
    const base::Log& log;
  };

  Agent(Parts parts, AgentOptions options);

  // Calls start(), then look() until stop is requested. A second thread meanwhile waits for the driver's
  // errors, and where the limiter is installed a third looks after containers that wait for memory.
  void run(std::stop_token stop);

  // Restores health and table of an earlier run from the state directory.
  //
  // REQUIRES: called once, before the first look().
  void start();
  // One pass of the loop. Returns early, without a plan, when stop is requested.
  void look(const Inbox::Mail& mail, const std::stop_token& stop);

 private:
  void reload();
  void look_at_gpus(const std::vector<inventory::ErrorEvent>& errors);
  void plan();
  // An error says why these settings cannot be planned with; nothing was published then.
  base::Result<void> plan_with(const settings::Settings& settings);
  void publish(slices::Planned planned);
  void save_table();
  void save_health();
  void note_saved(const base::Result<void>& saved);
  void tell();
  std::string problem() const;
  std::string limiter_problem() const;
  bool enforces() const { return !options_.paths.limiter_directory.empty(); }

  Parts parts_;
  AgentOptions options_;
  base::Log log_;
  const std::string boot_id_;
  SettingsKeeper settings_;
  health::HealthTracker tracker_;
  GpuWatch gpus_;
  PodWatch pods_;
  LimitsKeeper limits_;
  UsageWatch usage_;
  EnforcementWatch enforcement_;
  enforcement::WaitLoop waits_;
  StateFile health_file_;
  StateFile table_file_;
  base::SteadyTime gpus_due_{};       // when the GPUs are to be looked at next
  base::Result<void> usage_saved_{};  // by the last look at the GPUs
  slices::Table previous_;
  bool table_saved_ = false;  // previous_, in table_file_
  std::vector<std::string> notes_;
  std::string plan_problem_;
  bool waiting_ = false;             // GPUs keep an old cut while it is in use
  std::string save_problem_;         // the first of this look
  std::string logged_save_problem_;  // of the look before
};

}  // namespace gpupool::agent
