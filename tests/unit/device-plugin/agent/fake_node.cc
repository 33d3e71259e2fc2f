// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/device-plugin/agent/fake_node.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

namespace gpupool::test {

void FakeGpus::install(int count) {
  const std::lock_guard lock(mutex_);
  missing_.clear();
  inventory_.driver = {"550.54.15", "12.4"};
  ++inventory_.opened;
  inventory_.gpus.clear();
  for (int index = 0; index < count; ++index) {
    inventory::Gpu gpu;
    gpu.uuid = "GPU-" + std::to_string(index);
    gpu.index = index;
    gpu.minor = index;
    gpu.model = "Fake";
    gpu.memory_mib = 12000;
    inventory_.gpus.push_back(gpu);
  }
}

void FakeGpus::uninstall(const std::string& why) {
  const std::lock_guard lock(mutex_);
  missing_ = why;
}

void FakeGpus::reload_driver(const std::string& version) {
  const std::lock_guard lock(mutex_);
  missing_.clear();
  inventory_.driver.version = version;
  ++inventory_.opened;
}

void FakeGpus::answer(const std::string& uuid, inventory::Probe probe) {
  const std::lock_guard lock(mutex_);
  probes_[uuid] = std::move(probe);
}

void FakeGpus::use(std::int64_t percent) {
  const std::lock_guard lock(mutex_);
  percent_ = percent;
}

FakeGpus::Calls FakeGpus::calls() {
  const std::lock_guard lock(mutex_);
  return calls_;
}

base::Result<inventory::Inventory> FakeGpus::list() {
  const std::lock_guard lock(mutex_);
  ++calls_.list;
  if (!missing_.empty()) return base::fail(base::ErrorCode::kNotFound, missing_);
  return inventory_;
}

base::Result<inventory::Usage> FakeGpus::usage(const std::string&) {
  const std::lock_guard lock(mutex_);
  ++calls_.usage;
  return inventory::Usage{.gpu_percent = percent_,
                          .memory_used_mib = used_mib_,
                          .temperature_celsius = 61,
                          .power_milliwatts = 250500};
}

void FakeGpus::fill(std::int64_t used_mib) {
  const std::lock_guard lock(mutex_);
  used_mib_ = used_mib;
}

void FakeGpus::run(const std::string& uuid, std::vector<inventory::ProcessUse> processes) {
  const std::lock_guard lock(mutex_);
  processes_[uuid] = std::move(processes);
}

base::Result<std::vector<inventory::ProcessUse>> FakeGpus::processes(const std::string& uuid) {
  const std::lock_guard lock(mutex_);
  ++calls_.processes;
  return processes_[uuid];
}

inventory::Probe FakeGpus::probe(const std::string& uuid) {
  const std::lock_guard lock(mutex_);
  ++calls_.probe;
  const auto found = probes_.find(uuid);
  return found == probes_.end() ? inventory::Probe{} : found->second;
}

std::vector<inventory::ErrorEvent> FakeGpus::wait_events(base::Duration, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  never_.wait(lock, std::move(stop), [] { return false; });
  return {};
}

void FakePods::hold(const std::vector<std::string>& ids, const std::string& resource) {
  holdings_.clear();
  for (const auto& id : ids) holdings_.push_back({"team", "pod-" + id, "main", resource, {id}});
}

base::Result<std::vector<kubelet::Holding>> FakePods::list(std::stop_token) {
  if (silent_) return base::fail(base::ErrorCode::kTransport, "nobody answers");
  auto answer = holdings_;
  if (const auto what = std::exchange(meanwhile_, nullptr)) what();
  return answer;
}

base::Result<std::vector<std::string>> FakePods::allocatable(const std::string&, std::stop_token) {
  return base::fail(base::ErrorCode::kInvalid, "an old kubelet");
}

Life::World::World() {
  std::filesystem::create_directories(folder.path() + "/config");
  configure("version: v1\n");
}

void Life::World::configure(const std::string& yaml) const { std::ofstream(config, std::ios::trunc) << yaml; }

Life::Life(World& w, bool begins)
    : world(w),
      agent(
          {world.gpus, errors, world.pods, latest_table, rules, context, plugins, inbox, snapshots,
           [this](report::Facts facts) { reported.push_back(std::move(facts)); }, world.clock, metrics, log},
          {.node = "node-1",
           .config = world.config,
           .given = {},
           .state_directory = world.folder.path() + "/state",
           .checkpoint = world.folder.path() + "/device-plugins/kubelet_internal_checkpoint",
           .proc = world.folder.path() + "/proc",
           .paths = {.limits_directory = limits.directory(),
                     .limiter_directory = world.limiter_directory,
                     .regions_directory = regions.directory()},
           .resource_names = {.whole = "nvidia.com/gpu", .partition_prefix = "nvidia.com/mig-"}}) {
  if (!begins) return;
  agent.start();
  reload();
}

void Life::look(agent::Inbox::Mail mail) {
  world.clock.advance(std::chrono::seconds(1));
  agent.look(mail, {});
}

const slices::Resource* Life::resource(const std::string& name) const {
  table_ = latest_table.current().table;
  const auto found = std::find_if(table_->resources.begin(), table_->resources.end(),
                                  [&](const auto& resource) { return resource.name == name; });
  return found == table_->resources.end() ? nullptr : &*found;
}

int Life::healthy(const std::string& uuid) const {
  const auto* const found = resource();
  if (found == nullptr) return 0;
  return static_cast<int>(std::count_if(found->slices.begin(), found->slices.end(), [&](const auto& slice) {
    return slice.healthy && (uuid.empty() || slice.gpu == uuid);
  }));
}

}  // namespace gpupool::test
