// SPDX-License-Identifier: Apache-2.0
#include "limiter/cuda/context_charge.h"

#include <array>
#include <atomic>

#include "limiter/cuda/allocations.h"
#include "limiter/cuda/own_use.h"
#include "limiter/cuda/pool_charge.h"
#include "limiter/cuda/table.h"
#include "limiter/cuda/uuid_text.h"
#include "limiter/region/monotonic.h"

namespace gpupool::limiter {

namespace {

constinit Table<KnownContext> contexts;
constinit std::atomic<std::uint64_t> last_context{0};

std::uint64_t key_of(CUcontext context) { return reinterpret_cast<std::uint64_t>(context); }

void number_context(KnownContext& known) {
  if (known.number == 0) {
    known.number = last_context.fetch_add(1, std::memory_order_relaxed) + 1;
  }
}

struct Measured {
  std::atomic<std::uint64_t> next_ns{0};
  std::atomic<std::uint64_t> learnt{0};  // bytes of the last context that was measured
  std::atomic<std::int32_t> device{0};   // CUDA's number + 1; 0: not seen yet
  std::atomic<bool> due{false};
  std::atomic<bool> works{false};
};
constinit std::array<Measured, kMaxDevices> measured_devices;
constinit std::atomic<std::uint32_t> devices_due{0};

constexpr std::uint64_t kBetweenMeasures = 1'000'000'000;
constexpr int kMeasureTries = 8;

bool is_device(unsigned position) { return position < kMaxDevices; }

void make_due(unsigned position) {
  if (!measured_devices[position].due.exchange(true, std::memory_order_relaxed)) {
    devices_due.fetch_add(1, std::memory_order_relaxed);
  }
}

bool take_due(unsigned position) {
  const bool was = measured_devices[position].due.exchange(false, std::memory_order_relaxed);
  if (was) {
    devices_due.fetch_sub(1, std::memory_order_relaxed);
  }
  return was;
}

// Charges but those of contexts and managed memory, which NVML does not count for a process.
std::uint64_t other_charges(unsigned position) {
  const Ledger& ledger = session.ledger();
  return ledger.own(position) - ledger.own(position, Class::kContext) - ledger.own(position, Class::kManaged);
}

// NVML's figure less all else that is charged. False: not to be had now.
bool read_contexts(unsigned position, std::uint64_t& bytes) {
  Measured& device = measured_devices[position];
  UuidText uuid{};
  if (!device_uuid(position, device.device.load(std::memory_order_relaxed) - 1, uuid)) {
    return false;
  }
  for (int tries = 0; tries < kMeasureTries; ++tries) {
    settle_pools(position);
    const std::uint64_t ended = Unsettled::ended();
    const std::uint64_t begun = Unsettled::begun();
    const std::uint64_t others = other_charges(position);
    std::uint64_t used = 0;
    const OwnUse use = own_use(uuid.text, used);
    if (use == OwnUse::kUnknown ||
        (use == OwnUse::kNotListed && !device.works.load(std::memory_order_relaxed))) {
      return false;
    }
    if (begun == ended && Unsettled::begun() == begun) {
      bytes = used > others ? used - others : 0;
      device.works.store(true, std::memory_order_relaxed);
      return true;
    }
  }
  make_due(position);  // other threads allocate all the time: later
  return false;
}

bool measuring_works(unsigned position) {
  return is_device(position) && measured_devices[position].works.load(std::memory_order_relaxed);
}

// Charges an estimate for a context, once.
void estimate_context(CUcontext context, unsigned position, std::uint64_t bytes) {
  session.ledger().note(kUnmeasured);
  bool added = false;
  contexts.change(key_of(context), true, [&](KnownContext& known) {
    added = known.estimated == 0;
    if (added) {
      number_context(known);
      known.estimated = bytes;
      known.position = position;
      known.charged = true;
    }
    return true;
  });
  if (added && bytes != 0) {
    session.ledger().commit(position, Class::kContext, 0, bytes);
  }
}

}  // namespace

std::uint64_t expected_context(unsigned position) {
  if (!is_device(position)) {
    return 0;
  }
  measure_if_changed(position);  // so that what the new one takes is told from code that is loaded already
  const std::uint64_t learnt = measured_devices[position].learnt.load(std::memory_order_relaxed);
  return learnt != 0 ? learnt : session.ledger().limits().context_bytes;
}

std::uint64_t context_made(CUcontext context, CUdevice device, Reserved& reserved) {
  const unsigned position = session.position(device);
  if (!is_device(position)) {
    return 0;
  }
  bool is_new = false;
  std::uint64_t number = 0;
  contexts.change(key_of(context), true, [&](KnownContext& known) {
    is_new = !known.charged;
    known.charged = true;
    number_context(known);
    number = known.number;
    known.position = position;
    ++known.uses;
    return true;
  });
  if (!is_new) {
    return number;
  }
  Measured& measured = measured_devices[position];
  measured.device.store(device + 1, std::memory_order_relaxed);
  const std::uint64_t before = session.ledger().own(position, Class::kContext);
  reserved.hold_aside();  // the measure below is of a quiet moment, and this call is over
  std::uint64_t bytes = 0;
  if (read_contexts(position, bytes)) {
    reserved.settle(Class::kContext, bytes);
    if (bytes > before) {
      measured.learnt.store(bytes - before, std::memory_order_relaxed);
    }
    measured.next_ns.store(monotonic_ns() + kBetweenMeasures, std::memory_order_relaxed);
    return number;
  }
  if (measuring_works(position)) {
    reserved.settle(Class::kContext, before + reserved.bytes());  // until it can be measured
    make_due(position);
    return number;
  }
  const std::uint64_t estimate = session.ledger().limits().context_bytes;
  estimate_context(context, position, estimate);
  reserved.cancel();
  return number;
}

void context_attached(CUcontext context) {
  contexts.change(key_of(context), false, [](KnownContext& known) {
    ++known.uses;
    return true;
  });
}

std::uint64_t current_context_number() {
  std::uint64_t number = 0;
  contexts.change(key_of(current_context()), true, [&number](KnownContext& known) {
    number_context(known);
    number = known.number;
    return true;
  });
  return number;
}

LeavingContext::LeavingContext(CUcontext context, Ends ends, std::uint64_t number) : context_(context) {
  Unsettled::begin();
  contexts.change(key_of(context), false, [this, ends, number](KnownContext& known) {
    if (number != 0 && known.number != number) {
      return true;
    }
    found_ = true;
    taken_ = ends == Ends::kAll || known.uses <= 1;
    known_ = known;
    known.uses -= taken_ ? 0 : 1;
    return !taken_;
  });
}

LeavingContext::~LeavingContext() {
  if (settled_) {
    return;
  }
  if (found_) {
    bool other = false;
    contexts.change(key_of(context_), taken_, [&](KnownContext& known) {
      other = taken_ && known.charged;
      known.uses += !taken_ && known.number == known_.number ? 1 : 0;
      known = taken_ && !other ? known_ : known;
      return true;
    });
    if (other) {  // another thread has met it meanwhile, and has charged it
      release(Charged{known_.estimated, known_.position, Class::kContext});
    }
  }
  Unsettled::end();
}

void LeavingContext::settle() {
  settled_ = true;
  if (taken_) {
    context_gone(known_.number);
    release(Charged{known_.estimated, known_.position, Class::kContext});
  }
  Unsettled::end();
  if (taken_ && measuring_works(known_.position)) {
    measure_contexts(known_.position);
  }
}

void LeavingContext::done() { settle(); }

void LeavingContext::ended() {
  if (found_ && !taken_) {
    contexts.change(key_of(context_), false, [this](const KnownContext& known) {
      taken_ = known.number == known_.number;  // the handle may be another's by now
      known_ = taken_ ? known : known_;
      return !taken_;
    });
  }
  settle();
}

void context_grew(CUcontext context, unsigned position, Reserved& reserved, std::uint64_t bytes) {
  if (!is_device(position)) {
    return;
  }
  if (measuring_works(position)) {
    reserved.cancel();
    measure_contexts(position);
    return;
  }
  contexts.change(key_of(context), true, [&](KnownContext& known) {
    number_context(known);
    known.estimated += bytes;
    known.position = position;
    known.charged = true;
    return true;
  });
  reserved.commit(Class::kContext, bytes);
}

void context_shrank(CUcontext context, unsigned position, std::uint64_t bytes) {
  if (!is_device(position)) {
    return;
  }
  if (measuring_works(position)) {
    measure_contexts(position);
    return;
  }
  std::uint64_t freed = 0;
  contexts.change(key_of(context), false, [&](KnownContext& known) {
    freed = known.estimated < bytes ? known.estimated : bytes;
    known.estimated -= freed;
    return true;
  });
  release(Charged{freed, position, Class::kContext});
}

void measure_contexts(unsigned position) {
  if (!is_device(position)) {
    return;
  }
  take_due(position);
  measured_devices[position].next_ns.store(monotonic_ns() + kBetweenMeasures, std::memory_order_relaxed);
  std::uint64_t bytes = 0;
  if (read_contexts(position, bytes)) {
    session.ledger().settle(position, Class::kContext, bytes);
  }
}

void contexts_changed(unsigned position) {
  if (is_device(position) && measuring_works(position)) {
    make_due(position);
    measure_if_due();
  }
}

void measure_if_changed(unsigned position) {
  if (is_device(position) && measured_devices[position].due.load(std::memory_order_relaxed)) {
    measure_contexts(position);
  }
}

void measure_if_due() {
  if (devices_due.load(std::memory_order_relaxed) == 0) {
    return;
  }
  const std::uint64_t now = monotonic_ns();
  for (unsigned position = 0; position < kMaxDevices; ++position) {
    Measured& device = measured_devices[position];
    if (device.due.load(std::memory_order_relaxed) && device.next_ns.load(std::memory_order_relaxed) <= now &&
        take_due(position)) {
      measure_contexts(position);
    }
  }
}

void measure_first_context(CUdevice device, unsigned position) {
  if (!is_device(position)) {
    return;
  }
  Measured& measured = measured_devices[position];
  if (measured.device.load(std::memory_order_relaxed) != 0) {
    measure_if_due();
    return;
  }
  Reserved nothing;
  context_made(current_context(), device, nothing);
}

void forget_contexts_after_fork() {
  contexts.forget_after_fork();
  for (Measured& device : measured_devices) {
    device.next_ns.store(0, std::memory_order_relaxed);
    device.device.store(0, std::memory_order_relaxed);
    device.due.store(false, std::memory_order_relaxed);
    device.works.store(false, std::memory_order_relaxed);
  }
  devices_due.store(0, std::memory_order_relaxed);
  forget_own_use_after_fork();
}

}  // namespace gpupool::limiter
