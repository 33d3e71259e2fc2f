// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/fake-cuda/address_space.h"
#include "tests/fake-cuda/failures.h"
#include "tests/fake-cuda/objects.h"
#include "tests/fake-cuda/small_blocks.h"
#include "tests/fake-cuda/state.h"
#include "tests/fake-cuda/types.h"
#include "tests/fake-nvml/control_file.h"

namespace gpupool::fake_cuda {

// A GPU, or a MIG device, that this process sees.
struct Device {
  Ordinal ordinal = 0;
  unsigned state = 0;  // position in the state file
  std::string uuid;
  fake_nvml::Gpu gpu;
  std::uint64_t memory = 0;  // bytes in all
  Context* primary = nullptr;
  unsigned int primary_users = 0;
  unsigned int primary_flags = 0;
  Pool* default_pool = nullptr;
  Pool* current_pool = nullptr;
  // What graphs hold.
  std::uint64_t graph_used = 0;
  std::uint64_t graph_used_high = 0;
  std::uint64_t graph_reserved = 0;
  std::uint64_t graph_reserved_high = 0;
};

// Values of cuCtxSetLimit.
inline constexpr unsigned kLimits = 8;
inline constexpr unsigned kLimitStack = 0;
inline constexpr unsigned kLimitPrintf = 1;
inline constexpr unsigned kLimitHeap = 2;

struct Context {
  Device* device = nullptr;
  unsigned int flags = 0;
  bool primary = false;
  unsigned int uses = 1;      // of cuCtxAttach
  std::uint64_t charged = 0;  // context, stacks and heap, but not its modules
  std::size_t limits[kLimits] = {1024, 1U << 20U, 8U << 20U, 0, 2, 2048, 128, 0};
  std::set<Module*> modules;
  SmallBlocks blocks;
};

// A thread's contexts; the last is the current one. Nothing destroys it: programs call the driver after the
// end of their thread-local variables.
class ContextStack {
 public:
  bool empty() const { return count_ == 0; }
  Context* back() const { return contexts_[count_ - 1]; }
  void push_back(Context* context) {
    if (count_ < std::size(contexts_)) contexts_[count_++] = context;
  }
  void pop_back() { --count_; }
  void erase(const Context* context) {
    count_ = static_cast<unsigned>(std::remove(contexts_, contexts_ + count_, context) - contexts_);
  }

 private:
  Context* contexts_[64];
  unsigned count_;
};

// This process's view of the pretended driver. All calls hold `mutex`.
class Driver {
 public:
  std::mutex mutex;

  Result init();
  bool initialised() const { return initialised_; }
  bool forked() const { return forked_; }
  int cuda_version() { return control_.read().cuda_version; }
  int branch();  // of the driver: 550 of 550.54.15
  std::vector<std::unique_ptr<Device>>& devices() { return devices_; }
  Device* device(Ordinal ordinal);
  // What a call of this function is to fail with. Its forms with _ptsz and _ptds are the same one.
  std::optional<Result> failure(std::string_view name);
  AddressSpace& memory() { return memory_; }
  StateFile& state() { return state_; }
  Objects& objects() { return objects_; }
  std::set<Context*>& contexts() { return contexts_; }
  // By how much a pool grows at least.
  std::uint64_t pool_growth() { return control_.read().pool_growth_mib << 20U; }

  // Takes bytes of the device, or says that there are none.
  bool charge(Device& device, Kind kind, std::uint64_t bytes);
  void discharge(Device& device, Kind kind, std::uint64_t bytes) {
    state_.discharge(device.state, kind, bytes);
  }
  std::uint64_t capacity(const Device& device);
  std::uint64_t free_bytes(const Device& device);

  // Contexts. `current` is the calling thread's; null: none.
  Context* current();
  Context* make_context(Device& device, unsigned int flags, bool primary);  // null: out of memory
  void destroy_context(Context* context);
  bool is_context(const Context* context) const { return contexts_.contains(const_cast<Context*>(context)); }
  ContextStack& stack();

 private:
  friend Driver& driver();
  Driver();
  void find_devices();
  void add_device(const fake_nvml::Gpu& gpu, const fake_nvml::MigInstance* mig);

  fake_nvml::ControlFile control_;
  Failures failures_;
  StateFile state_;
  AddressSpace memory_;
  Objects objects_;
  bool initialised_ = false;
  bool forked_ = false;
  std::vector<std::unique_ptr<Device>> devices_;
  std::set<Context*> contexts_;
};

// One for each process that has loaded the library.
Driver& driver();

}  // namespace gpupool::fake_cuda
