// SPDX-License-Identifier: Apache-2.0
#include "base/mutex.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace gpupool::base {
namespace {

class Counter {
 public:
  void add() {
    const MutexLock lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  int wait_for(int count) {
    MutexLock lock(mutex_);
    SystemClock().wait(lock.native(), changed_, {}, std::nullopt,
                       [&]() GPUPOOL_REQUIRES(mutex_) { return count_ >= count; });
    return count_;
  }
  bool is_free() {
    if (!mutex_.try_lock()) return false;
    mutex_.unlock();
    return true;
  }
  // What is_free() says while a lock is held, given back and taken again.
  std::vector<bool> free_while_locked() {
    std::vector<bool> seen;
    const auto look = [&] { std::thread([&] { seen.push_back(is_free()); }).join(); };
    MutexLock lock(mutex_);
    look();
    lock.unlock();
    look();
    lock.lock();
    look();
    return seen;
  }

 private:
  Mutex mutex_;
  std::condition_variable_any changed_;
  int count_ GPUPOOL_GUARDED_BY(mutex_) = 0;
};

TEST(MutexTest, AWaitGivesTheMutexBackToThoseThatEndIt) {
  Counter counter;
  const std::jthread adder([&] {
    for (int i = 0; i < 3; ++i) counter.add();
  });
  EXPECT_EQ(counter.wait_for(3), 3);
}

TEST(MutexTest, ALockCanBeGivenBackBeforeItsScopeEnds) {
  Counter counter;
  EXPECT_EQ(counter.free_while_locked(), (std::vector<bool>{false, true, false}));
  EXPECT_TRUE(counter.is_free());
}

TEST(SharedMutexTest, ReadersDoNotExcludeEachOther) {
  SharedMutex mutex;
  const ReaderLock one(mutex);
  bool second_reader = false;
  std::thread([&] {
    const ReaderLock two(mutex);
    second_reader = true;
  }).join();
  EXPECT_TRUE(second_reader);
}

TEST(SharedMutexTest, AWriterWaitsForReaders) {
  SharedMutex mutex;
  std::jthread writer;
  bool written = false;
  {
    const ReaderLock reader(mutex);
    writer = std::jthread([&] {
      const WriterLock lock(mutex);
      written = true;
    });
    EXPECT_FALSE(written);
  }
  writer.join();
  EXPECT_TRUE(written);
}

}  // namespace
}  // namespace gpupool::base
