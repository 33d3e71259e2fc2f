// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "nvidia/nvml/api.h"
#include "tests/fake-nvml/control_file.h"

namespace gpupool::fake_nvml {

namespace nvml = nvidia::nvml;
using nvml::Device;
using nvml::Return;

// What a handle stands for: a GPU, or a MIG device on it.
struct Target {
  const Gpu* gpu = nullptr;
  unsigned int index = 0;
  const MigInstance* mig = nullptr;  // null: the GPU itself
};

// Events that one event set has been asked for, and what it was told already.
struct Subscription {
  std::set<std::string> gpus;  // UUIDs
  std::uint64_t last_sequence = 0;
};

// The state of this process: initialised or not, and the handles that were given out. All calls hold `mutex`.
class Machine {
 public:
  std::mutex mutex;

  Return init();
  Return shutdown();
  // kSuccess if calls can be answered; else what they are answered instead.
  Return ready();
  const World& world() { return control_.read(); }
  const std::string& control_path() const { return control_.path(); }

  Device handle(const std::string& gpu, const std::string& mig = {});
  // kGpuIsLost and so on if the GPU does not answer; kInvalidArgument for a pointer that is no handle.
  Return resolve(Device device, Target& target);

  nvml::EventSet make_event_set();
  Subscription* subscription(nvml::EventSet set);
  bool drop_event_set(nvml::EventSet set);

 private:
  struct Handle {
    std::string gpu;
    std::string mig;
  };

  ControlFile control_;
  unsigned int users_ = 0;
  std::string version_;     // of the driver that was there at init()
  std::uint64_t load_ = 0;  // likewise
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Handle>> handles_;
  std::map<nvml::EventSet, std::unique_ptr<Subscription>> event_sets_;
};

// One for each process that has loaded the library.
Machine& machine();

// Runs `answer(target)` for a GPU or MIG device that answers.
template <class Answer>
Return with_device(Device device, Answer answer) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  Target target;
  if (const Return code = m.resolve(device, target); code != Return::kSuccess) return code;
  return answer(std::as_const(target));
}

// Runs `answer(world)` while a driver is there.
template <class Answer>
Return with_world(Answer answer) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  if (const Return code = m.ready(); code != Return::kSuccess) return code;
  return answer(m.world());
}

// Copies text out as NVML does.
Return put_text(const std::string& text, char* out, unsigned int length);

}  // namespace gpupool::fake_nvml
