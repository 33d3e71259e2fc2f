// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/driver.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "tests/fake-cuda/allocations.h"
#include "tests/fake-cuda/arrays.h"
#include "tests/fake-cuda/modules.h"

namespace gpupool::fake_cuda {

namespace {

constexpr std::uint64_t kMebibyte = 1ULL << 20U;

// The GPUs that CUDA_VISIBLE_DEVICES names, in its order; it ends at the first word that names none.
std::vector<const fake_nvml::Gpu*> visible_gpus(const std::vector<fake_nvml::Gpu>& gpus) {
  std::vector<const fake_nvml::Gpu*> found;
  const char* variable =
      std::getenv("CUDA_VISIBLE_DEVICES");  // NOLINT(concurrency-mt-unsafe): as the driver does
  if (variable == nullptr) {
    for (const auto& gpu : gpus) found.push_back(&gpu);
    return found;
  }
  std::istringstream words(variable);
  for (std::string word; std::getline(words, word, ',');) {
    char* end = nullptr;
    const long index = std::strtol(word.c_str(), &end, 10);
    const bool is_number = end != word.c_str() && *end == '\0';
    const auto named = std::ranges::find_if(gpus, [&](const fake_nvml::Gpu& gpu) {
      if (is_number) return &gpu - gpus.data() == index;
      const auto has_mig = [&](const fake_nvml::MigInstance& mig) { return mig.uuid.starts_with(word); };
      return !word.empty() && (gpu.uuid.starts_with(word) || std::ranges::any_of(gpu.mig, has_mig));
    });
    if (named == gpus.end() || std::ranges::find(found, &*named) != found.end()) break;
    found.push_back(&*named);
  }
  return found;
}

// The MIG device that a process gets of a GPU: the one that is named, or the first.
const fake_nvml::MigInstance* visible_mig(const fake_nvml::Gpu& gpu) {
  const char* variable = std::getenv("CUDA_VISIBLE_DEVICES");  // NOLINT(concurrency-mt-unsafe)
  const std::string names = variable != nullptr ? variable : "";
  for (const auto& mig : gpu.mig) {
    if (names.find(mig.uuid) != std::string::npos) return &mig;
  }
  return gpu.mig.empty() ? nullptr : gpu.mig.data();
}

}  // namespace

Driver& driver() {
  // Never destroyed: programs call the driver until their very end.
  static auto* const instance = new Driver();
  return *instance;
}

Driver::Driver() {
  pthread_atfork([] { driver().mutex.lock(); }, [] { driver().mutex.unlock(); },
                 [] {
                   driver().mutex.unlock();
                   if (!driver().initialised_) return;
                   // CUDA does not work in the child; what the parent holds stays the parent's.
                   driver().forked_ = true;
                   driver().state_.forget();
                 });
}

std::optional<Result> Driver::failure(std::string_view name) {
  for (const std::string_view twin : {"_ptsz", "_ptds"}) {
    if (name.ends_with(twin)) name.remove_suffix(twin.size());
  }
  if (const auto code = state_.asked(name)) return static_cast<Result>(*code);
  return failures_.next(name);
}

int Driver::branch() { return std::atoi(control_.read().driver_version.c_str()); }  // NOLINT(cert-err34-c)

Result Driver::init() {
  if (forked_) return Result::kNotInitialized;
  if (initialised_) return Result::kSuccess;
  const fake_nvml::World& world = control_.read();
  if (!world.loaded) return Result::kNoDevice;
  find_devices();
  if (devices_.empty()) return Result::kNoDevice;
  if (const char* text = std::getenv("GPUPOOL_FAKE_CUDA_KERNEL_NS")) {  // NOLINT(concurrency-mt-unsafe)
    objects_.kernel_ns = std::strtoull(text, nullptr, 10);
  }
  const std::string path = StateFile::default_path();
  if (!state_.is_open() && !(state_.open(path, true) && state_.attach())) {
    std::fprintf(stderr, "fake CUDA: %s: cannot be used as the state file: %s\n", path.c_str(),
                 std::strerror(errno));  // NOLINT(concurrency-mt-unsafe)
    return Result::kOperatingSystem;
  }
  for (auto& device : devices_) {
    const int at = state_.device(device->uuid, true);
    if (at < 0) return Result::kOperatingSystem;
    device->state = static_cast<unsigned>(at);
  }
  initialised_ = true;
  return Result::kSuccess;
}

void Driver::find_devices() {
  devices_.clear();
  for (const fake_nvml::Gpu* gpu : visible_gpus(control_.read().gpus)) {
    if (gpu->state != fake_nvml::State::kOk) continue;
    if (!gpu->mig_enabled) {
      add_device(*gpu, nullptr);
    } else if (const auto* mig = visible_mig(*gpu)) {
      add_device(*gpu, mig);
    }
  }
}

void Driver::add_device(const fake_nvml::Gpu& gpu, const fake_nvml::MigInstance* mig) {
  auto device = std::make_unique<Device>();
  device->ordinal = static_cast<Ordinal>(devices_.size());
  device->gpu = gpu;
  device->uuid = mig != nullptr ? mig->uuid : gpu.uuid;
  device->memory = (mig != nullptr ? mig->memory_mib : gpu.memory_mib) * kMebibyte;
  devices_.push_back(std::move(device));
}

Device* Driver::device(Ordinal ordinal) {
  const bool known = ordinal >= 0 && static_cast<std::size_t>(ordinal) < devices_.size();
  return known ? devices_[static_cast<std::size_t>(ordinal)].get() : nullptr;
}

std::uint64_t Driver::capacity(const Device& device) {
  std::uint64_t others = device.gpu.used_mib;
  for (const auto& gpu : control_.read().gpus) {
    if (gpu.uuid == device.gpu.uuid) others = gpu.used_mib;
  }
  return device.memory - std::min(device.memory, others * kMebibyte);
}

std::uint64_t Driver::free_bytes(const Device& device) {
  const std::uint64_t room = capacity(device);
  return room - std::min(room, state_.used(device.state));
}

bool Driver::charge(Device& device, Kind kind, std::uint64_t bytes) {
  return state_.charge(device.state, kind, bytes, capacity(device));
}

ContextStack& Driver::stack() {
  thread_local constinit ContextStack contexts{};
  return contexts;
}

Context* Driver::current() {
  auto& contexts = stack();
  return contexts.empty() || !is_context(contexts.back()) ? nullptr : contexts.back();
}

Context* Driver::make_context(Device& device, unsigned int flags, bool primary) {
  const std::uint64_t bytes = device.gpu.context_mib * kMebibyte;
  if (!charge(device, Kind::kContext, bytes)) return nullptr;
  auto* const made = new Context;
  made->device = &device;
  made->flags = flags;
  made->primary = primary;
  made->charged = bytes;
  contexts_.insert(made);
  return made;
}

void Driver::destroy_context(Context* context) {
  free_all_of(*this, *context);
  std::erase_if(objects_.streams, [&](const Stream* stream) {
    if (stream->context != context) return false;
    delete stream;
    return true;
  });
  std::erase_if(objects_.events, [&](const Event* event) {
    if (event->context != context) return false;
    delete event;
    return true;
  });
  free_arrays_of(*this, *context);
  while (!context->modules.empty()) unload_module(*this, *context->modules.begin());
  discharge(*context->device, Kind::kContext, context->charged);
  if (context->device->primary == context) context->device->primary = nullptr;
  contexts_.erase(context);
  delete context;
}

}  // namespace gpupool::fake_cuda
