// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "runtime/queue/work_queue.h"
#include "tests/support/manual_clock.h"

namespace gpupool::runtime {
namespace {

using std::chrono::seconds;
using Key = WorkQueue::Key;

// The specification of the queue, in the simplest form.
struct Model {
  std::set<Key> wanted;
  std::set<Key> working;
  std::map<Key, base::SteadyTime> delayed;

  void promote(base::SteadyTime now) {
    for (auto it = delayed.begin(); it != delayed.end();) {
      if (it->second > now) {
        ++it;
        continue;
      }
      wanted.insert(it->first);
      it = delayed.erase(it);
    }
  }
  void delay(const Key& key, base::SteadyTime until) {
    const auto entry = delayed.try_emplace(key, until).first;
    entry->second = std::min(entry->second, until);
  }
  std::size_t ready() const {
    return static_cast<std::size_t>(
        std::count_if(wanted.begin(), wanted.end(), [&](const Key& key) { return !working.contains(key); }));
  }
};

class Driver {
 public:
  void step(int operation, int number) {
    const Key key{"lab", std::to_string(number)};
    switch (operation) {
      case 0:
        queue_.add(key, number % 2 == 0 ? Priority::kLive : Priority::kBackground);
        model_.wanted.insert(key);
        break;
      case 1:
        queue_.add_after(key, seconds(1 + 17 * number));
        model_.delay(key, clock_.now() + seconds(1 + 17 * number));
        break;
      case 2:
        queue_.add_rate_limited(key);
        model_.delay(key, clock_.now() + std::chrono::milliseconds(5) * (1 << failures_[key]++));
        break;
      case 3:
        clock_.advance(seconds(number));
        break;
      case 4:
        take();
        break;
      default:
        if (model_.working.empty()) break;
        finish(*model_.working.begin());
    }
  }

  // After all work is done, no wanted key may be left.
  void work_off_all() {
    clock_.advance(std::chrono::hours(1));
    while (!model_.working.empty()) finish(*model_.working.begin());
    while (take()) finish(*model_.working.begin());
    RC_ASSERT(model_.wanted.empty());
    RC_ASSERT(model_.delayed.empty());
    RC_ASSERT(queue_.depth() == 0U);
  }

 private:
  bool take() {
    // The queue reads the clock only when it is asked for a key, so the model must not do it more often.
    Model due = model_;
    due.promote(clock_.now());
    if (due.ready() == 0) return false;
    model_ = due;
    const auto key = queue_.get({});
    RC_ASSERT(key.has_value());
    RC_ASSERT(model_.wanted.erase(*key) == 1U);
    RC_ASSERT(model_.working.insert(*key).second);
    check();
    return true;
  }
  void finish(const Key& key) {
    const Key copy = key;
    queue_.done(copy);
    model_.working.erase(copy);
  }
  void check() {
    RC_ASSERT(queue_.depth() == model_.ready());
    RC_ASSERT(queue_.in_work() == model_.working.size());
  }

  test::ManualClock clock_;
  WorkQueue queue_{clock_, std::chrono::minutes(30)};
  Model model_;
  std::map<Key, int> failures_;
};

RC_GTEST_PROP(WorkQueueProperty, BehavesLikeItsModel, ()) {
  const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 6), rc::gen::inRange(0, 5)));
  Driver driver;
  std::map<int, int> rate_limited;
  for (const auto& [operation, number] : steps) {
    // With more failures, the delay of a key would exceed the last advance.
    if (operation == 2 && ++rate_limited[number] > 15) continue;
    driver.step(operation, number);
  }
  driver.work_off_all();
}

TEST(WorkQueueProperty, ThreadsNeverShareAKeyAndLoseNone) {
  constexpr int kKeys = 20;
  constexpr int kRounds = 400;
  base::SystemClock clock;
  WorkQueue queue(clock, seconds(1));
  std::array<std::atomic<int>, kKeys> in_work{};
  std::array<std::atomic<int>, kKeys> asked{};
  std::array<std::atomic<int>, kKeys> answered{};
  std::atomic<bool> shared = false;
  const auto work = [&](const std::stop_token& stop) {
    while (const auto key = queue.get(stop)) {
      const auto number = static_cast<std::size_t>(std::stoi(key->name));
      if (in_work.at(number)++ != 0) shared = true;
      answered.at(number) = asked.at(number).load();
      --in_work.at(number);
      queue.done(*key);
    }
  };
  std::stop_source stop;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { work(stop.get_token()); });
    {
      std::vector<std::jthread> writers;
      for (int writer = 0; writer < 2; ++writer) {
        writers.emplace_back([&, writer] {
          for (int i = 0; i < kRounds * kKeys; ++i) {
            const int number = (i * 7 + writer) % kKeys;
            ++asked.at(static_cast<std::size_t>(number));
            const Key key{"", std::to_string(number)};
            if (i % 3 == 0) {
              queue.add_after(key, std::chrono::microseconds(i % 50));
            } else {
              queue.add(key, i % 2 == 0 ? Priority::kLive : Priority::kBackground);
            }
          }
        });
      }
    }
    // A last add of each key, so that the end can be waited for.
    const auto limit = clock.now() + seconds(60);
    for (int i = 0; i < kKeys; ++i) queue.add({"", std::to_string(i)});
    while ((queue.depth() > 0 || queue.in_work() > 0) && clock.now() < limit) std::this_thread::yield();
    stop.request_stop();
  }
  EXPECT_FALSE(shared);
  for (std::size_t i = 0; i < kKeys; ++i) EXPECT_EQ(answered.at(i), asked.at(i)) << i;
}

}  // namespace
}  // namespace gpupool::runtime
