// SPDX-License-Identifier: Apache-2.0
#include "tests/limiter/cuda/standin.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace gpupool::standin {

namespace {

// What all processes hold: the file that STANDIN_SHARED names, or this process alone.
std::atomic<std::uint64_t>* shared_counters() {
  static std::atomic<std::uint64_t>* const counters = [] {
    const char* const path = std::getenv("STANDIN_SHARED");  // NOLINT(concurrency-mt-unsafe)
    const int file = path != nullptr ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file >= 0 && ftruncate(file, 4096) != 0) std::abort();
    void* const pages = mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                             file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file, 0);
    if (pages == MAP_FAILED) std::abort();
    return static_cast<std::atomic<std::uint64_t>*>(pages);
  }();
  return counters;
}

void give_back_at_exit() {
  if (world().forked) return;
  for (int device = 0; device < kDevices; ++device) shared_counters()[device] -= world().held[device];
}

}  // namespace

std::uint64_t capacity() {
  const char* const text = std::getenv("STANDIN_MIB");  // NOLINT(concurrency-mt-unsafe)
  return (text != nullptr ? std::strtoull(text, nullptr, 10) : 4096) * kMib;
}

World& world() {
  static auto* const one = [] {
    std::atexit(give_back_at_exit);
    pthread_atfork(nullptr, nullptr, [] { world().forked = true; });
    return new World;
  }();
  return *one;
}

std::vector<Context*>& stack() {
  thread_local std::vector<Context*> contexts;
  return contexts;
}

bool take_bytes(int device, std::uint64_t bytes) {
  if (device < 0) return true;
  auto& all = shared_counters()[device];
  std::uint64_t before = all.load();
  do {
    if (before + bytes > capacity()) return false;
  } while (!all.compare_exchange_weak(before, before + bytes));
  world().held[device] += bytes;
  return true;
}

void give_bytes(int device, std::uint64_t bytes) {
  if (device < 0) return;
  if (world().held[device] < bytes) std::abort();
  world().held[device] -= bytes;
  shared_counters()[device] -= bytes;
}

}  // namespace gpupool::standin

using namespace gpupool::standin;

void standin_fail(const char* name, int result, int good) {
  const std::lock_guard lock(world().mutex);
  world().failures.clear();
  if (result != 0) world().failures[name] = {good, result};
}

std::uint64_t standin_bytes(int device) {
  const std::lock_guard lock(world().mutex);
  return world().held[device];
}

STANDIN cuInit(unsigned) { return 0; }
STANDIN cuDeviceGetCount(int* count) { return *count = kDevices, 0; }
STANDIN cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
STANDIN cuDeviceGetUuid_v2(CUuuid* uuid, int device) {
  *uuid = {};
  uuid->bytes[15] = static_cast<unsigned char>(device);
  return 0;
}
STANDIN cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == kAttributeMultiprocessors ? 8 : 1024;
  return 0;
}
STANDIN cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = capacity(), 0; }
STANDIN cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  if (current() == nullptr) return kNoContext;
  *total = capacity();
  *free = capacity() - shared_counters()[current()->device];
  return 0;
}

namespace {

void destroy(World& w, Context* context) {
  for (auto at = w.ranges.begin(); at != w.ranges.end();) {
    auto next = std::next(at);
    if (at->second.context == context) free_range(w, at);
    at = next;
  }
  std::erase_if(w.arrays, [context](const auto& entry) {
    const Array& array = entry.second;
    if (array.context == context) give_bytes(array.device, array.bytes);
    return array.context == context;
  });
  give_bytes(context->device, kContextBytes + context->grown);
  w.contexts.erase(context);
  std::erase(stack(), context);
  delete context;
}

Context* make(World& w, int device) {
  if (!take_bytes(device, kContextBytes)) return nullptr;
  return *w.contexts.insert(new Context{.device = device}).first;
}

}  // namespace

STANDIN cuCtxCreate_v2(Context** out, unsigned, int device) {
  return call(__func__, [=](World& w) {
    Context* const made = make(w, device);
    if (made == nullptr) return kOutOfMemory;
    stack().push_back(*out = made);
    return kSuccess;
  });
}
STANDIN cuCtxDestroy_v2(Context* context) {
  return call(__func__, [=](World& w) {
    if (!w.contexts.contains(context)) return kInvalidValue;
    destroy(w, context);
    return kSuccess;
  });
}
STANDIN cuDevicePrimaryCtxRetain(Context** out, int device) {
  return call(__func__, [=](World& w) {
    if (w.primary[device] == nullptr) w.primary[device] = make(w, device);
    if (w.primary[device] == nullptr) return kOutOfMemory;
    ++w.primary_users[device];
    *out = w.primary[device];
    return kSuccess;
  });
}
STANDIN cuDevicePrimaryCtxRelease_v2(int device) {
  return call(__func__, [=](World& w) {
    if (w.primary[device] == nullptr) return kInvalidValue;
    if (--w.primary_users[device] == 0) {
      destroy(w, w.primary[device]);
      w.primary[device] = nullptr;
    }
    return kSuccess;
  });
}
STANDIN cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  *flags = 0;
  *active = world().primary[device] != nullptr ? 1 : 0;
  return 0;
}
STANDIN cuCtxSetCurrent(Context* context) {
  if (!stack().empty()) stack().pop_back();
  if (context != nullptr) stack().push_back(context);
  return 0;
}
STANDIN cuCtxPushCurrent_v2(Context* context) { return stack().push_back(context), 0; }
STANDIN cuCtxPopCurrent_v2(Context** context) {
  *context = current();
  stack().pop_back();
  return 0;
}
STANDIN cuCtxGetCurrent(Context** context) { return *context = current(), 0; }
STANDIN cuCtxGetDevice(int* device) {
  if (current() == nullptr) return kNoContext;
  return *device = current()->device, 0;
}
STANDIN cuCtxGetLimit(std::size_t* value, int limit) { return *value = current()->limits[limit], 0; }
STANDIN cuCtxSetLimit(int limit, std::size_t value) {
  return call(__func__, [=](World&) {
    Context& c = *current();
    const std::uint64_t unit = limit == kLimitStackSize ? 8ULL * 1024 : 1;
    const std::uint64_t had = c.limits[limit] * unit;
    const std::uint64_t wants = value * unit;
    if (wants > had && !take_bytes(c.device, wants - had)) return kOutOfMemory;
    if (wants < had && c.grown < had - wants) return kInvalidValue;
    if (wants < had) give_bytes(c.device, had - wants);
    c.grown += wants - had;
    c.limits[limit] = value;
    return kSuccess;
  });
}
