#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "inventory/nvml_session.h"

namespace gpupool::inventory {

// The one session with the driver that all threads share. NVML only finds a reloaded driver after it was shut
// down and unloaded, so a session that turned out dead is closed when its last user lets go, before another
// is opened. Thread-safe.
class SessionKeeper {
 public:
  // Keeps the session open while it exists. Short-lived.
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
    // Nobody gets this session any more.
    void retire() const { keeper_->retire(); }

   private:
    SessionKeeper* keeper_;
    NvmlSession* session_;
    std::int64_t number_;
  };

  explicit SessionKeeper(std::string library) : library_(std::move(library)) {}

  // The open session, or a new one. Waits for a retired one to close, at most kPatience: kTimeout.
  base::Result<Use> open();
  // Nothing if none is open; opens none.
  std::optional<Use> current();
  // Returns when a session is open, at `deadline`, or when stop is requested.
  void wait_open(base::SteadyTime deadline, const std::stop_token& stop);
  // Just waits.
  void pause(base::SteadyTime deadline, const std::stop_token& stop);

  static constexpr std::chrono::seconds kPatience{10};

 private:
  enum class Phase { kClosed, kOpening, kOpen, kRetiring, kClosing };

  void release();
  void retire();

  const std::string library_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Phase phase_ = Phase::kClosed;
  std::unique_ptr<NvmlSession> session_;
  std::size_t users_ = 0;
  std::int64_t number_ = 0;
};

}  // namespace gpupool::inventory
