// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "enforcement/wait_arbiter.h"

namespace gpupool::enforcement {
namespace {

using FreeBytes = std::map<std::string, std::uint64_t>;

std::vector<Holder> any_holders() {
  const auto count = *rc::gen::inRange(1, 6);
  std::vector<Holder> holders;
  for (int i = 0; i < count; ++i) {
    Holder holder{"region-" + std::to_string(i), {}};
    const auto gpus = *rc::gen::inRange(1, 3);
    for (int gpu = 0; gpu < gpus; ++gpu) {
      HeldDevice device;
      device.gpu = "GPU-" + std::to_string(gpus == 1 ? *rc::gen::inRange(0, 2) : gpu);
      device.held_bytes = *rc::gen::inRange<std::uint64_t>(0, 10);
      device.waiting_bytes = *rc::gen::inRange<std::uint64_t>(0, 20);
      if (*rc::gen::inRange(0, 3) == 0) device.waiting_bytes = 0;
      device.waiting_since = *rc::gen::inRange<std::uint64_t>(0, 1000);
      device.ticket = *rc::gen::inRange<std::uint64_t>(1, 4);
      device.refused_ticket = *rc::gen::inRange<std::uint64_t>(0, 4);
      holder.devices.push_back(device);
    }
    holders.push_back(holder);
  }
  return holders;
}

FreeBytes any_free() {
  return {{"GPU-0", *rc::gen::inRange<std::uint64_t>(0, 10)},
          {"GPU-1", *rc::gen::inRange<std::uint64_t>(0, 10)}};
}

bool is_waiting(const HeldDevice& device) {
  return device.waiting_bytes > 0 && device.ticket != device.refused_ticket;
}

// Whether all can be met one after the other in this order.
bool works(const std::vector<Holder>& holders, const std::vector<std::size_t>& order, FreeBytes free_bytes) {
  for (const std::size_t i : order) {
    for (const HeldDevice& device : holders[i].devices) {
      if (is_waiting(device) && device.waiting_bytes > free_bytes[device.gpu]) return false;
    }
    for (const HeldDevice& device : holders[i].devices) free_bytes[device.gpu] += device.held_bytes;
  }
  return true;
}

bool some_order_works(const std::vector<Holder>& holders, const FreeBytes& free_bytes) {
  std::vector<std::size_t> order(holders.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    if (works(holders, order, free_bytes)) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

RC_GTEST_PROP(WaitArbiterProperty, RefusesIfAndOnlyIfNoOrderWorks, ()) {
  const auto holders = any_holders();
  const auto free_bytes = any_free();
  RC_ASSERT(refuse_deadlocked(holders, free_bytes).has_value() == !some_order_works(holders, free_bytes));
}

RC_GTEST_PROP(WaitArbiterProperty, RefusesAWaitThatIsGoingOn, ()) {
  const auto holders = any_holders();
  const auto refused = refuse_deadlocked(holders, any_free());
  if (!refused) return;
  const auto holder = std::find_if(holders.begin(), holders.end(),
                                   [&](const Holder& one) { return one.region == refused->region; });
  RC_ASSERT(holder != holders.end());
  RC_ASSERT(refused->device < holder->devices.size());
  RC_ASSERT(is_waiting(holder->devices[refused->device]));
  RC_ASSERT(refused->ticket == holder->devices[refused->device].ticket);
}

// Each refusal ends one wait, so there are never more than there are waits, and then everybody can go on.
RC_GTEST_PROP(WaitArbiterProperty, AFewRefusalsEndEveryDeadlock, ()) {
  auto holders = any_holders();
  const auto free_bytes = any_free();
  std::size_t waits = 0;
  for (const Holder& holder : holders) {
    waits +=
        static_cast<std::size_t>(std::count_if(holder.devices.begin(), holder.devices.end(), is_waiting));
  }
  std::size_t refusals = 0;
  while (const auto refused = refuse_deadlocked(holders, free_bytes)) {
    ++refusals;
    RC_ASSERT(refusals <= waits);
    for (Holder& holder : holders) {
      if (holder.region == refused->region) holder.devices[refused->device].refused_ticket = refused->ticket;
    }
  }
  RC_ASSERT(some_order_works(holders, free_bytes));
}

}  // namespace
}  // namespace gpupool::enforcement
