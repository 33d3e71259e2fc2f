#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "agent/gpu_watch.h"
#include "agent/inbox.h"
#include "agent/limits_keeper.h"
#include "agent/plugin_set.h"
#include "agent/pod_watch.h"
#include "agent/settings_keeper.h"
#include "agent/snapshot.h"
#include "agent/state_file.h"
#include "base/clock.h"
#include "base/log.h"
#include "health/gpu_health.h"
#include "inventory/gpu_source.h"
#include "kubelet/offering.h"
#include "kubelet/rules.h"
#include "slices/board.h"
#include "slices/plan_table.h"

namespace gpupool::agent {

struct AgentOptions {
  std::string node;
  std::string config;           // file; empty: defaults
  settings::Given given;        // flags and environment
  std::string state_directory;  // health and table over restarts
  allocation::Places places;
};

// The loop that ties the plugin together: once a second, and at once on an XID or a new configuration, it
// looks at the GPUs, at what pods hold and at the settings, plans the table of slices from that, publishes it
// to the kubelet, and tells what it found. Errors are part of what it tells; it goes on whatever happens.
class Agent {
 public:
  // Everything outlives the agent. The board and the rules of the offering are its to write.
  struct Parts {
    inventory::GpuSource& source;
    kubelet::PodResources& pods;
    slices::Board& board;
    kubelet::CurrentRules& rules;
    const kubelet::Offering& offering;
    PluginSet& plugins;
    Inbox& inbox;
    CurrentSnapshot& snapshot;
    std::function<void(report::Facts)> report;
    base::Clock& clock;
    base::Metrics& metrics;
    const base::Log& log;
  };

  Agent(Parts parts, AgentOptions options);

  // Until stop is requested: start(), then look() again and again.
  void run(std::stop_token stop);

  // Takes up what was known before.
  void start();
  // One look at everything, and all that follows from it.
  void look(const Inbox::Mail& mail, const std::stop_token& stop);

 private:
  void reload();
  void plan();
  // Whether this plan could be made and was published.
  base::Result<void> plan_with(const settings::Settings& settings);
  void publish(slices::Planned planned);
  void save_table();
  void save_health();
  void note_saved(const base::Result<void>& saved);
  void tell();
  std::string problem() const;

  Parts parts_;
  AgentOptions options_;
  base::Log log_;
  const std::string boot_id_;
  SettingsKeeper settings_;
  health::Book book_;
  GpuWatch gpus_;
  PodWatch pods_;
  LimitsKeeper limits_;
  StateFile health_file_;
  StateFile table_file_;
  slices::Table previous_;
  std::vector<std::string> notes_;
  std::string plan_problem_;
  bool waiting_ = false;  // GPUs keep an old cut while it is in use
  std::string save_problem_;
};

}  // namespace gpupool::agent
