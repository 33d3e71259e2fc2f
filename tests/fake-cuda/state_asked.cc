// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "tests/fake-cuda/state.h"

// The part of the state file by which tests and the driver speak with each other.
namespace gpupool::fake_cuda {

void StateFile::ask(const char* name, int code, unsigned skip) {
  Asked& asked = state_->asked;
  asked.left.store(0, std::memory_order_release);
  if (name == nullptr) return;
  std::memset(asked.name, 0, sizeof asked.name);
  std::memcpy(asked.name, name, std::min(std::strlen(name), sizeof asked.name - 1));
  asked.code.store(code, std::memory_order_relaxed);
  asked.skip.store(skip, std::memory_order_relaxed);
  asked.left.store(1, std::memory_order_release);
}

std::optional<int> StateFile::asked(std::string_view name) {
  if (state_ == nullptr) return std::nullopt;
  Asked& asked = state_->asked;
  if (asked.left.load(std::memory_order_acquire) == 0 || name != asked.name) return std::nullopt;
  if (asked.skip.load(std::memory_order_relaxed) != 0) {
    asked.skip.fetch_sub(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  asked.left.fetch_sub(1, std::memory_order_relaxed);
  return asked.code.load(std::memory_order_relaxed);
}

void StateFile::note_launch(const char* name, std::initializer_list<std::uint64_t> arguments) {
  Launch& last = state_->last_launch;
  last = {};
  std::memcpy(last.name, name, std::min(std::strlen(name), sizeof last.name - 1));
  std::ranges::copy(arguments, last.arguments);
}

}  // namespace gpupool::fake_cuda
