// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "limiter/cuda/session.h"
#include "limiter/cuda/types.h"
#include "limiter/cuda/wait.h"
#include "limiter/region/layout.h"

namespace gpupool::limiter {

// Bytes of a device that are counted for this process.
struct Charged {
  std::uint64_t bytes;
  std::uint32_t position;  // of the device, in the limits
  Class kind;
};

inline void release(const Charged& charged) {
  if (charged.position != kUncharged && charged.bytes != 0) {
    session.ledger().release(charged.position, charged.kind, charged.bytes);
  }
}

// Counts the driver calls between whose begin and end the charges and the driver's own figures need not
// agree. What is measured meanwhile is worth nothing.
class Unsettled {
 public:
  static void begin() { begun_.fetch_add(1, std::memory_order_seq_cst); }
  static void end() { ended_.fetch_add(1, std::memory_order_seq_cst); }
  static std::uint64_t begun() { return begun_.load(std::memory_order_seq_cst); }
  static std::uint64_t ended() { return ended_.load(std::memory_order_seq_cst); }
  static void forget_after_fork() {
    ended_.store(begun_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }

 private:
  static inline constinit std::atomic<std::uint64_t> begun_{0};
  static inline constinit std::atomic<std::uint64_t> ended_{0};
};

// Room for one driver call. What is neither committed nor cancelled is cancelled at the end.
class Reserved {
 public:
  Reserved() = default;
  ~Reserved() { cancel(); }
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;

  // False: the container has no room for it, or, with 0 bytes, is above its limit already. The region counts
  // a refusal, unless the caller only tries. Where nothing is charged it does nothing.
  bool reserve(unsigned position, std::uint64_t bytes) {
    return try_reserve(position, bytes) || refused(position);
  }
  bool try_reserve(unsigned position, std::uint64_t bytes);
  void commit(Class kind, std::uint64_t actual) {
    if (open_) {
      session.ledger().commit(position_, kind, bytes_, actual);
      close();
    }
  }
  // This process's sum of the class becomes `total`.
  void settle(Class kind, std::uint64_t total) {
    if (open_) {
      session.ledger().settle(position_, kind, total, bytes_);
      close();
    }
  }
  // The driver's call is over; commit() or another of these follows.
  void hold_aside() {
    if (open_ && !aside_) {
      aside_ = true;
      Unsettled::end();
    }
  }
  void cancel() {
    if (open_) {
      session.ledger().cancel(position_, bytes_);
      close();
    }
  }
  // Where to charge: kUncharged if nothing was reserved because nothing is limited.
  unsigned position() const { return position_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  static bool refused(unsigned position) {
    session.ledger().count_refusal(position);
    return false;
  }
  void close() {
    open_ = false;
    if (!aside_) {
      Unsettled::end();
    }
  }

  bool open_ = false;
  bool aside_ = false;
  unsigned position_ = kUncharged;
  std::uint64_t bytes_ = 0;
};

// Calls the driver, and again while wait.h says so. `call` returns CUresult.
template <typename Call>
CUresult call_patiently(unsigned position, std::uint64_t bytes, Call call) {
  CUresult result = call();
  if (result == kOutOfMemory && position != kUncharged) {
    Patience patience(position, bytes);
    while (result == kOutOfMemory && patience.pause()) {
      result = call();
    }
  }
  return result;
}

}  // namespace gpupool::limiter
