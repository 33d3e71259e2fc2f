// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/agent.h"
#include "nvidia/container_access.h"
#include "nvidia/xid_catalogue.h"
#include "tests/support/manual_clock.h"
#include "tests/unit/device-plugin/kubelet/plugin_on_node.h"

namespace gpupool::test {

// GPUs as a test says. Thread-safe.
class FakeGpus final : public inventory::GpuSource {
 public:
  // `count` GPUs of 12000 MiB: GPU-0, GPU-1, ...
  void install(int count);
  void uninstall(const std::string& why);
  void reload_driver(const std::string& version);
  void answer(const std::string& uuid, inventory::Probe probe);
  // How busy all GPUs are, in percent; 37 at first.
  void use(std::int64_t percent);
  // How much memory of each GPU is in use; 1000 MiB at first.
  void fill(std::int64_t used_mib);
  // The processes on a GPU.
  void run(const std::string& uuid, std::vector<inventory::ProcessUse> processes);
  // How often list(), probe(), usage() and processes() were called.
  struct Calls {
    int list = 0;
    int probe = 0;
    int usage = 0;
    int processes = 0;
    bool operator==(const Calls&) const = default;
  };
  Calls calls();

  base::Result<inventory::Inventory> list() override;
  base::Result<inventory::Usage> usage(const std::string& uuid) override;
  base::Result<std::vector<inventory::ProcessUse>> processes(const std::string& uuid) override;
  inventory::Probe probe(const std::string& uuid) override;
  // There are none: blocks until stop is requested.
  std::vector<inventory::ErrorEvent> wait_events(base::Duration limit, std::stop_token stop) override;

 private:
  std::mutex mutex_;
  std::condition_variable_any never_;
  inventory::Inventory inventory_;
  std::string missing_ = "no driver";
  std::map<std::string, inventory::Probe> probes_;
  std::map<std::string, std::vector<inventory::ProcessUse>> processes_;
  std::int64_t percent_ = 37;
  std::int64_t used_mib_ = 1000;
  Calls calls_;
};

// What the kubelet says that pods hold.
class FakePods final : public kubelet::PodResources {
 public:
  FakePods() : PodResources("/nonexistent/kubelet.sock") {}
  // Devices of one resource, one container each: "main" of the pod "team/pod-ID".
  void hold(const std::vector<std::string>& ids, const std::string& resource = kVgpu);
  void silence() { silent_ = true; }
  // Called once, after the answer of the next list() was made.
  void meanwhile(std::function<void()> what) { meanwhile_ = std::move(what); }

  base::Result<std::vector<kubelet::Holding>> list(std::stop_token stop) override;
  base::Result<std::vector<std::string>> allocatable(const std::string& resource,
                                                     std::stop_token stop) override;

 private:
  bool silent_ = false;
  std::vector<kubelet::Holding> holdings_;
  std::function<void()> meanwhile_;
};

// One life of the plugin on a node; its folders and GPUs survive it.
class Life {
 public:
  struct World {
    World();
    void configure(const std::string& yaml) const;

    TemporaryFolder folder;
    std::string limiter_directory;  // empty: it is not installed
    const std::string config = folder.path() + "/config/plugin.yaml";
    FakeGpus gpus;
    FakePods pods;
    ManualClock clock;
  };

  // Begins with a first look, unless the test calls agent.run().
  explicit Life(World& world, bool begins = true);

  // A look, a second later.
  void look(agent::Inbox::Mail mail = {});
  void look(int times) {
    for (int i = 0; i < times; ++i) look();
  }
  void reload() { look({.errors = {}, .reload = true}); }

  const slices::Resource* resource(const std::string& name = kVgpu) const;
  // Slices of that resource that are healthy, of one GPU or of all.
  int healthy(const std::string& uuid = "") const;
  std::size_t count() const { return resource() ? resource()->slices.size() : 0; }
  std::uint64_t version() const { return latest_table.current().number; }
  const agent::Snapshot& snapshot() const { return *(kept_ = snapshots.get()); }

  World& world;
  base::Metrics metrics;
  base::Log log = base::Log::none();
  const health::ErrorCatalogue errors = nvidia::xid_catalogue();
  slices::LatestTable latest_table;
  base::Latest<kubelet::Rules> rules;
  kubelet::LimitsStore limits{world.folder.path() + "/state/limits"};
  enforcement::RegionStore regions{world.folder.path() + "/regions"};
  kubelet::AllocationGate gate;
  std::unique_ptr<const allocation::ContainerAccess> access = nvidia::make_container_access();
  kubelet::PluginContext context{latest_table, rules, limits, regions, *access, gate, metrics, log};
  agent::PluginSet plugins{world.folder.path() + "/device-plugins", context, world.pods, world.clock};
  agent::Inbox inbox;
  base::Latest<agent::Snapshot> snapshots;
  std::vector<report::Facts> reported;
  agent::Agent agent;

 private:
  // Of the last question, so that the answer lives until the next.
  mutable std::shared_ptr<const agent::Snapshot> kept_;
  mutable std::shared_ptr<const slices::Table> table_;
};

}  // namespace gpupool::test
