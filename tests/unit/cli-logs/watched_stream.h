// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>

namespace gpupool::test {

// A stream that one thread writes while another waits for a text in it. Thread-safe but for its flags.
class WatchedStream : private std::streambuf, public std::ostream {
 public:
  WatchedStream() : std::ostream(this) {}

  std::string str() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  // False if the text has not come within 20 s.
  bool wait_for(const std::string& wanted) const {
    std::unique_lock lock(mutex_);
    return grown_.wait_for(lock, std::chrono::seconds(20),
                           [&] { return text_.find(wanted) != std::string::npos; });
  }

 private:
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    const std::lock_guard lock(mutex_);
    text_.append(bytes, static_cast<std::size_t>(count));
    grown_.notify_all();
    return count;
  }
  std::streambuf::int_type overflow(std::streambuf::int_type character) override {
    const char byte = std::streambuf::traits_type::to_char_type(character);
    xsputn(&byte, 1);
    return character;
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable grown_;
  std::string text_;
};

}  // namespace gpupool::test
