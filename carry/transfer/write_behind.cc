// SPDX-License-Identifier: Apache-2.0
#include "transfer/write_behind.h"

#include <algorithm>

namespace gpupool::carry {
namespace {

constexpr std::int64_t kDirectBytes = std::int64_t{1} << 20U;

}  // namespace

WriteBehind::~WriteBehind() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Outcome<void> WriteBehind::write(OutputFile& file, std::string_view bytes) {
  if (direct_ < kDirectBytes) {
    direct_ += static_cast<std::int64_t>(bytes.size());
    return file.write(bytes);
  }
  if (!thread_.joinable()) {
    for (std::string& buffer : buffers_) buffer.reserve(kBufferBytes);
    thread_ = std::thread([this] { work(); });
  }
  {
    const std::lock_guard lock(mutex_);
    file_ = &file;
  }
  while (!bytes.empty()) {
    std::string& buffer = buffers_.at(filled_ % kBuffers);
    const std::size_t more = std::min(bytes.size(), kBufferBytes - buffer.size());
    buffer.append(bytes.substr(0, more));
    bytes.remove_prefix(more);
    if (buffer.size() == kBufferBytes && !hand_over()) return drain();
  }
  return {};
}

// Gives the filled buffer to the thread and waits for an empty one. Returns false if a write has failed.
bool WriteBehind::hand_over() {
  std::unique_lock lock(mutex_);
  ++filled_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return filled_ - written_ < kBuffers; });
  return done_.has_value();
}

Outcome<void> WriteBehind::drain() {
  if (!thread_.joinable()) return {};
  std::unique_lock lock(mutex_);
  if (!buffers_.at(filled_ % kBuffers).empty()) ++filled_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return filled_ == written_; });
  Outcome<void> done = std::move(done_);
  done_ = {};
  return done;
}

void WriteBehind::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || filled_ != written_; });
    if (filled_ == written_) return;
    std::string& buffer = buffers_.at(written_ % kBuffers);
    OutputFile* const file = done_ ? file_ : nullptr;  // after a failure the rest is dropped
    lock.unlock();
    Outcome<void> done = file != nullptr ? file->write(buffer) : Outcome<void>();
    buffer.clear();
    lock.lock();
    if (!done) done_ = std::move(done);
    ++written_;
    changed_.notify_all();
  }
}

}  // namespace gpupool::carry
