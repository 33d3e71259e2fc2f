// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "nvidia/nvml/session.h"

namespace gpupool::nvidia {

// The one open session with NVIDIA's driver that all threads share. NVML notices a reloaded driver only after
// it was shut down and unloaded. So a session that turned out dead is retired: nobody gets it any more, the
// last user closes it, and only then another one is opened. Phases: kClosed -> kOpening -> kOpen -> kRetiring
// -> kClosing -> kClosed.
//
// Thread-safe. mutex_ is not held while a session is opened or closed, which can take seconds.
class SessionKeeper {
 public:
  // A reference that keeps the session open while it exists. Hold it for one call, and not over waits without
  // a limit.
  class Use {
   public:
    Use(SessionKeeper* keeper, NvmlSession* session, std::int64_t number)
        : keeper_(keeper), session_(session), number_(number) {}
    Use(Use&& other) noexcept : keeper_(other.keeper_), session_(other.session_), number_(other.number_) {
      other.keeper_ = nullptr;
    }
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (keeper_ != nullptr) keeper_->release();
    }

    NvmlSession* operator->() const { return session_; }
    NvmlSession& operator*() const { return *session_; }
    std::int64_t number() const { return number_; }  // 1 for the first session
    // Marks the session as dead: open() and current() no longer return it.
    void retire() const { keeper_->retire(); }

   private:
    SessionKeeper* keeper_;
    NvmlSession* session_;
    std::int64_t number_;
  };

  explicit SessionKeeper(std::string library) : library_(std::move(library)) {}

  // The open session, or a new one. Blocks while one is being opened or closed; kTimeout after kPatience.
  base::Result<Use> open();
  // The open session if there is one. Does not open one and does not block.
  std::optional<Use> current();
  // Returns when a session is open, at `deadline`, or when stop is requested.
  void wait_open(base::SteadyTime deadline, const std::stop_token& stop);
  // Returns at `deadline` or when stop is requested.
  void pause(base::SteadyTime deadline, const std::stop_token& stop);

  static constexpr std::chrono::seconds kPatience{10};

 private:
  enum class Phase { kClosed, kOpening, kOpen, kRetiring, kClosing };

  void release();
  void retire();

  const std::string library_;
  base::Mutex mutex_;
  std::condition_variable_any changed_;
  Phase phase_ GPUPOOL_GUARDED_BY(mutex_) = Phase::kClosed;
  std::unique_ptr<NvmlSession> session_ GPUPOOL_GUARDED_BY(mutex_);
  std::size_t users_ GPUPOOL_GUARDED_BY(mutex_) = 0;
  std::int64_t number_ GPUPOOL_GUARDED_BY(mutex_) = 0;
};

}  // namespace gpupool::nvidia
