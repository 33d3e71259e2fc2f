// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/source.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/mutex.h"
#include "nvidia/nvml/driver_load.h"
#include "nvidia/nvml/list_gpus.h"
#include "nvidia/nvml/probe_gpu.h"
#include "nvidia/nvml/read_processes.h"
#include "nvidia/nvml/session_keeper.h"

namespace gpupool::nvidia {

namespace {

using nvml::Return;

// NVML cannot be woken while it waits for an event, so this is how long a stop or a reload takes at most.
constexpr std::chrono::milliseconds kSlice{200};
constexpr std::chrono::hours kLongest{24};

class NvmlSource final : public inventory::GpuSource {
 public:
  NvmlSource(NvmlPaths paths, const base::Log& log)
      : sysfs_(std::move(paths.sysfs)), log_(log), keeper_(std::move(paths.library)) {}

  base::Result<inventory::Inventory> list() override;
  base::Result<inventory::Usage> usage(const std::string& uuid) override;
  base::Result<std::vector<inventory::ProcessUse>> processes(const std::string& uuid) override;
  inventory::Probe probe(const std::string& uuid) override;
  std::vector<inventory::ErrorEvent> wait_events(base::Duration limit, std::stop_token stop) override;

 private:
  // Nothing if the session is dead; a new one may work. `problem` then says why.
  std::optional<inventory::Inventory> list_in(const SessionKeeper::Use& use, std::string& problem);
  inventory::Inventory last_of(std::int64_t session);
  void note(inventory::Inventory& inventory, std::int64_t session);

  const std::string sysfs_;
  const base::Log log_;
  SessionKeeper keeper_;
  base::Mutex mutex_;
  inventory::Inventory last_ GPUPOOL_GUARDED_BY(mutex_);
  std::int64_t last_session_ GPUPOOL_GUARDED_BY(mutex_) = 0;
  std::string last_load_ GPUPOOL_GUARDED_BY(mutex_);
};

base::Result<inventory::Inventory> NvmlSource::list() {
  constexpr int kTries = 2;  // the second in a session of its own
  std::string problem;
  for (int i = 0; i < kTries; ++i) {
    auto use = keeper_.open();
    if (!use) return tl::unexpected(std::move(use.error()));
    if ((*use)->library_replaced()) {
      log_.info("the driver's library was replaced, opening it anew");
      use->retire();
      problem = "the driver's library is being replaced";
      continue;
    }
    if (auto inventory = list_in(*use, problem)) return std::move(*inventory);
  }
  return base::fail(base::ErrorCode::kIo, "the NVIDIA driver does not answer: " + problem);
}

std::optional<inventory::Inventory> NvmlSource::list_in(const SessionKeeper::Use& use, std::string& problem) {
  ListedGpus listed = list_gpus(*use, sysfs_, last_of(use.number()), log_);
  if (listed.result != Return::kSuccess) {
    problem = use->nvml().explain(listed.result);
    log_.warning("the driver does not answer, opening it anew", {{"error", problem}});
    use.retire();
    return std::nullopt;
  }
  note(listed.inventory, use.number());
  return std::move(listed.inventory);
}

// Counts reloads of the driver. A new session with the same driver is none, as far as the kernel tells.
void NvmlSource::note(inventory::Inventory& inventory, std::int64_t session) {
  const std::string load = driver_load(sysfs_, inventory.driver.version);
  const base::MutexLock lock(mutex_);
  const bool same_load = !load.empty() && load == last_load_ && inventory.driver == last_.driver;
  inventory.opened = last_.opened + (session == last_session_ || same_load ? 0 : 1);
  last_ = inventory;
  last_session_ = session;
  last_load_ = load;
}

inventory::Inventory NvmlSource::last_of(std::int64_t session) {
  const base::MutexLock lock(mutex_);
  return last_session_ == session ? last_ : inventory::Inventory{};
}

base::Result<inventory::Usage> NvmlSource::usage(const std::string& uuid) {
  const auto use = keeper_.current();
  if (!use) return base::fail(base::ErrorCode::kNotFound, "no NVIDIA driver is open");
  const nvml::Device device = (*use)->device(uuid);
  if (device == nullptr) return base::fail(base::ErrorCode::kNotFound, "no GPU " + uuid);
  return read_usage((*use)->nvml(), device);
}

base::Result<std::vector<inventory::ProcessUse>> NvmlSource::processes(const std::string& uuid) {
  const auto use = keeper_.current();
  if (!use) return base::fail(base::ErrorCode::kNotFound, "no NVIDIA driver is open");
  const nvml::Device device = (*use)->device(uuid);
  if (device == nullptr) return base::fail(base::ErrorCode::kNotFound, "no GPU " + uuid);
  return read_processes((*use)->nvml(), device);
}

inventory::Probe NvmlSource::probe(const std::string& uuid) {
  const auto use = keeper_.current();
  if (!use) return {.result = inventory::Probe::Result::kFailing, .detail = "no NVIDIA driver is open"};
  const nvml::Device device = (*use)->device(uuid);
  if (device == nullptr)
    return {.result = inventory::Probe::Result::kLost, .detail = "the driver does not list it"};
  Probed probed = probe_gpu((*use)->nvml(), device);
  if (driver_is_gone(probed.result)) use->retire();
  return std::move(probed.probe);
}

std::vector<inventory::ErrorEvent> NvmlSource::wait_events(base::Duration limit, std::stop_token stop) {
  const auto deadline = std::chrono::steady_clock::now() + std::min<base::Duration>(limit, kLongest);
  while (true) {
    const auto now = std::chrono::steady_clock::now();
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(std::max(deadline - now, base::Duration::zero()));
    Return result = Return::kTimeout;
    if (const auto use = keeper_.current()) {
      auto waited = (*use)->wait(std::min(left, kSlice));
      if (!waited.events.empty()) return std::move(waited.events);
      result = waited.result;
      if (driver_is_gone(result)) use->retire();
    } else {
      keeper_.wait_open(deadline, stop);
    }
    if (stop.stop_requested() || std::chrono::steady_clock::now() >= deadline) return {};
    // With a lost GPU NVML may return at once every time; without a pause this loop would use a whole core.
    if (result != Return::kTimeout && result != Return::kSuccess) {
      keeper_.pause(std::min(deadline, std::chrono::steady_clock::now() + kSlice), stop);
    }
  }
}

}  // namespace

std::unique_ptr<inventory::GpuSource> make_nvml_source(NvmlPaths paths, const base::Log& log) {
  return std::make_unique<NvmlSource>(std::move(paths), log);
}

}  // namespace gpupool::nvidia
