// SPDX-License-Identifier: Apache-2.0
// What a ledger says in the region besides bytes: states, counters, unknown names, waits.
#include <cstring>
#include <string_view>

#include "limiter/region/ledger.h"
#include "limiter/region/local_lock.h"
#include "limiter/region/monotonic.h"
#include "limiter/region/record_lock.h"

namespace gpupool::limiter {
namespace {

bool word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

struct Name {
  char text[kNameBytes];
};

Name printable(const char* name) {
  Name result{};
  for (unsigned i = 0; i + 1 < kNameBytes && name[i] != '\0'; ++i) {
    result.text[i] = word_character(name[i]) ? name[i] : '?';
  }
  return result;
}

}  // namespace

void Ledger::note(State state) {
  own_state_.fetch_or(state, std::memory_order_relaxed);
  if (mapped_.region == nullptr) return;
  auto& shown = mapped_.region->state;
  if ((shown.load(std::memory_order_relaxed) & state) != state)
    shown.fetch_or(state, std::memory_order_relaxed);
}

std::uint32_t Ledger::state() const {
  const std::uint32_t own = own_state_.load(std::memory_order_relaxed);
  return mapped_.region == nullptr ? own : own | mapped_.region->state.load(std::memory_order_relaxed);
}

void Ledger::count_refusal(unsigned device) {
  if (mapped_.region == nullptr || device >= kMaxDevices) return;
  mapped_.region->devices[device].refusals.fetch_add(1, std::memory_order_relaxed);
}

void Ledger::count_gated_launch() {
  if (mapped_.region != nullptr) mapped_.region->launches_gated.fetch_add(1, std::memory_order_relaxed);
}

// Two processes may write one place at once: then a name is mixed of two. It is for people, and the count is
// exact.
void Ledger::unknown_name(const char* name) {
  note(kUnknownNames);
  if (mapped_.region == nullptr) return;
  mapped_.region->unknown_calls.fetch_add(1, std::memory_order_relaxed);
  const Name wanted = printable(name);
  const HeldLock held(mutex_);
  for (auto& place : mapped_.region->unknown_names) {
    if (std::memcmp(place, wanted.text, kNameBytes) == 0) return;
    if (place[0] != '\0') continue;
    std::memcpy(place, wanted.text, kNameBytes);
    return;
  }
}

std::uint64_t Ledger::begin_wait(unsigned device, std::uint64_t bytes) {
  if (!known(device) || mapped_.fd < 0) return 0;
  const HeldLock held(mutex_);
  if (waiting_[device] != 0 || !descriptor_is_good(mapped_) ||
      !record_lock::try_take(mapped_.fd, kWaitLockBase + device))
    return 0;
  DeviceRecord& record = mapped_.region->devices[device];
  // Above what is refused, so that an old refusal does not meet it; never 0.
  std::uint64_t ticket = record.wait_ticket.load(std::memory_order_relaxed) + 1;
  const std::uint64_t refused = record.refused_ticket.load(std::memory_order_relaxed);
  if (ticket <= refused) ticket = refused + 1;
  if (ticket == 0) ticket = 1;
  record.waiting_since.store(monotonic_ns(), std::memory_order_relaxed);
  record.wait_ticket.store(ticket, std::memory_order_relaxed);
  record.waiting_bytes.store(bytes == 0 ? 1 : bytes, std::memory_order_release);
  waiting_[device] = ticket;
  return ticket;
}

bool Ledger::wait_refused(unsigned device, std::uint64_t ticket) const {
  if (!known(device)) return true;
  return mapped_.region->devices[device].refused_ticket.load(std::memory_order_relaxed) == ticket;
}

void Ledger::end_wait(unsigned device, std::uint64_t ticket) {
  if (!known(device) || mapped_.fd < 0 || ticket == 0) return;
  const HeldLock held(mutex_);
  if (waiting_[device] != ticket) return;
  waiting_[device] = 0;
  DeviceRecord& record = mapped_.region->devices[device];
  record.waiting_bytes.store(0, std::memory_order_release);
  record.waits.fetch_add(1, std::memory_order_relaxed);
  if (descriptor_is_good(mapped_)) record_lock::give_back(mapped_.fd, kWaitLockBase + device);
}

}  // namespace gpupool::limiter
