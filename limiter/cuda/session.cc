// SPDX-License-Identifier: Apache-2.0
#include "limiter/cuda/session.h"

#include <pthread.h>
#include <unistd.h>

#include <string_view>

#include "limiter/cuda/after_fork.h"
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/uuid_text.h"
#include "limiter/limits/paths.h"
#include "limiter/proxy/unknown_name.h"

namespace gpupool::limiter {

constinit Session session;

namespace {

// The kind in front differs (MIG devices); the digits do not.
unsigned find_digits(const Limits& limits, std::string_view digits) {
  for (unsigned i = 0; i < limits.count; ++i) {
    const std::string_view uuid(static_cast<const char*>(limits.devices[i].uuid));
    if (uuid.ends_with(digits)) {
      return i;
    }
  }
  return limits.count;
}

}  // namespace

void Session::start_once() {
  const Locked locked(lock_);
  if (started_.load(std::memory_order_relaxed)) {
    return;
  }
  const Limits limits = load_limits(kLimitsPath, environ);
  if (!watches_forks_) {
    watches_forks_ = pthread_atfork(nullptr, nullptr, &Session::forget_after_fork) == 0;
  }
  ledger_.attach(kRegionPath, limits);
  started_.store(true, std::memory_order_release);
}

void Session::forget_after_fork() {
  session.lock_.reset();
  for (std::atomic<std::uint32_t>& position : session.positions_) {
    position.store(0, std::memory_order_relaxed);
  }
  session.ledger_.forget_after_fork();
  session.started_.store(false, std::memory_order_relaxed);
  after_fork();
}

unsigned Session::find_position(CUdevice device, bool& known) {
  const Limits& limits = ledger_.limits();
  known = true;
  switch (limits.source) {
    case Limits::Source::kNone:
      return kUncharged;
    case Limits::Source::kBad:
      return 0;
    case Limits::Source::kEnvironment:
      return device >= 0 && static_cast<unsigned>(device) < limits.count ? static_cast<unsigned>(device)
                                                                         : kUncharged;
    case Limits::Source::kFile:
      break;
  }
  CUuuid uuid{};
  const CUresult result = read_uuid(device, uuid);
  if (result != kSuccess) {
    known = false;
    return result == kNotInitialized || result == kDeinitialized ? kUncharged : limits.count;
  }
  const UuidText digits = print_uuid(uuid);
  return find_digits(limits, static_cast<const char*>(digits.text));
}

unsigned Session::position(CUdevice device) {
  start();
  const bool cached = device >= 0 && device < kCached;
  if (cached) {
    const std::uint32_t before = positions_[device].load(std::memory_order_relaxed);
    if (before != 0) {
      return before - 1;
    }
  }
  bool known = false;
  const unsigned found = find_position(device, known);
  if (known && cached && found != kUncharged) {
    positions_[device].store(found + 1, std::memory_order_relaxed);
  }
  return found;
}

CUresult Session::current(CUdevice& device, unsigned& position_of_it) {
  const CUresult result = driver::cuCtxGetDevice(&device);
  if (result == kSuccess) {
    position_of_it = position(device);
  }
  return result;
}

CUcontext current_context() {
  CUcontext context = nullptr;
  return driver::cuCtxGetCurrent(&context) == kSuccess ? context : nullptr;
}

void unknown_name(const char* name) {
  session.start();
  session.ledger().unknown_name(name);
}

}  // namespace gpupool::limiter
