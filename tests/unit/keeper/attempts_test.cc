// SPDX-License-Identifier: Apache-2.0
#include "store/attempts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "store/attempt_file.h"
#include "store/rank_files.h"
#include "tests/support/temporary_folder.h"

namespace gpupool::keeper {
namespace {

using std::chrono::hours;

// Only the wall clock is asked.
class SetClock final : public base::Clock {
 public:
  base::SteadyTime now() const override { return {}; }
  base::WallTime wall() const override { return time; }
  bool wait(std::unique_lock<std::mutex>&, std::condition_variable_any&, std::stop_token,
            std::optional<base::SteadyTime>, const std::function<bool()>& ready) override {
    return ready();
  }
  base::WallTime time{hours(1000)};
};

class AttemptsTest : public testing::Test {
 protected:
  AttemptsTest() { open({}); }

  void open(const Limits& limits) {
    auto opened = Attempts::open(folder_.path(), limits, clock_);
    ASSERT_TRUE(opened) << opened.error().message;
    attempts_ = std::move(*opened);
  }
  static AttemptId id(const std::string& uid, const std::string& ns = "lab", std::int64_t lease = 1) {
    return {ns, uid, lease};
  }
  base::Result<void> enter(const AttemptId& of, std::int64_t rank = 0, std::int64_t ranks = 1) {
    return attempts_->enter({.id = of, .job = "job", .ranks = ranks}, rank);
  }
  void store(const AttemptId& of, std::uint64_t bytes, bool ends = true) {
    ASSERT_TRUE(enter(of));
    std::ofstream(log_file(attempts_->folder(of), 0)) << std::string(bytes, 'x');
    attempts_->grown(of, 0, bytes, 0);
    if (ends) {
      ASSERT_TRUE(replace_file(end_file(attempts_->folder(of), 0), write_end({.end = {"exited", 0}})));
      attempts_->ended(of, 0, {"exited", 0});
      attempts_->leave(of);
    }
    clock_.time += std::chrono::seconds(1);
  }
  bool has(const AttemptId& of) const { return attempts_->find(of).has_value(); }

  SetClock clock_;
  test::TemporaryFolder folder_;
  std::unique_ptr<Attempts> attempts_;
};

TEST_F(AttemptsTest, AreFoundAgainAfterARestart) {
  store(id("a"), 100);
  ASSERT_TRUE(enter(id("b"), 1, 2));
  ASSERT_TRUE(attempts_->set_namespace_uid(id("b"), "ns-uid"));
  const auto begin = attempts_->find(id("b"))->begin;
  open({});
  ASSERT_TRUE(has(id("a")));
  EXPECT_EQ(attempts_->find(id("a"))->ended_ranks, 1);
  EXPECT_GE(attempts_->find(id("a"))->bytes, 100U);
  ASSERT_TRUE(has(id("b")));
  EXPECT_EQ(attempts_->find(id("b"))->ranks, 2);
  EXPECT_EQ(attempts_->find(id("b"))->namespace_uid, "ns-uid");
  EXPECT_EQ(attempts_->find(id("b"))->begin, begin);
  EXPECT_EQ(attempts_->count(), 2U);
}

TEST_F(AttemptsTest, NothingIsTakenAfterTheEnd) {
  store(id("a"), 1);
  EXPECT_EQ(enter(id("a")).error().code, base::ErrorCode::kInvalid);
  ASSERT_TRUE(enter(id("b"), 0, 2));
  EXPECT_EQ(enter(id("b"), 2, 3).error().code, base::ErrorCode::kInvalid);  // the first hello counts
  EXPECT_TRUE(enter(id("b"), 1, 3));
}

TEST_F(AttemptsTest, AnAttemptWithoutAWriterEndsAfterADay) {
  ASSERT_TRUE(enter(id("a"), 0, 2));
  clock_.time += hours(48);
  EXPECT_TRUE(enter(id("a"), 1, 2));  // the other rank is still connected
  attempts_->leave(id("a"));
  attempts_->leave(id("a"));
  clock_.time += hours(25);
  EXPECT_EQ(enter(id("a"), 1, 2).error().code, base::ErrorCode::kInvalid);
}

TEST_F(AttemptsTest, OldLogsAreRemoved) {
  store(id("a"), 1);
  clock_.time += hours(24 * 14 - 1);
  attempts_->remove_old();
  EXPECT_TRUE(has(id("a")));
  clock_.time += hours(2);
  attempts_->remove_old();
  EXPECT_FALSE(has(id("a")));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/lab"));
  EXPECT_EQ(attempts_->total_bytes(), 0U);
  EXPECT_EQ(attempts_->removed(), 1U);
}

TEST_F(AttemptsTest, TheOldestThatHasEndedMakesRoom) {
  open({.namespace_bytes = 250, .total_bytes = 500});
  store(id("running"), 100, false);
  store(id("old"), 100);
  store(id("new"), 100);
  ASSERT_TRUE(enter(id("next")));
  EXPECT_EQ(attempts_->make_room(id("next")), Room::kEnough);
  EXPECT_TRUE(has(id("running")));
  EXPECT_FALSE(has(id("old")));
  EXPECT_TRUE(has(id("new")));
  store(id("a", "other"), 240);
  EXPECT_EQ(attempts_->make_room(id("next")), Room::kEnough);
  store(id("b", "third"), 240);
  EXPECT_EQ(attempts_->make_room(id("next")), Room::kEnough);
  EXPECT_FALSE(has(id("new")));  // of all namespaces
}

TEST_F(AttemptsTest, WhereNothingHasEndedThereIsNoRoom) {
  open({.job_bytes = 50, .namespace_bytes = 100, .total_bytes = 150});
  store(id("a", "lab", 1), 60, false);
  EXPECT_EQ(attempts_->make_room(id("a", "lab", 2)), Room::kJobIsFull);
  EXPECT_EQ(attempts_->make_room(id("b")), Room::kEnough);
  store(id("b"), 45, false);
  EXPECT_EQ(attempts_->make_room(id("c")), Room::kNamespaceIsFull);
  EXPECT_EQ(attempts_->make_room(id("c", "other")), Room::kEnough);
  store(id("c", "other"), 49, false);
  EXPECT_EQ(attempts_->make_room(id("d", "third")), Room::kStoreIsFull);
}

TEST_F(AttemptsTest, AreListedNewestFirst) {
  store(id("a"), 1);
  store(id("b"), 1);
  store(id("a", "lab", 2), 1);
  store(id("a", "lab-2"), 1);
  std::vector<AttemptId> found;
  for (const auto& attempt : attempts_->list("lab", "", "")) found.push_back(attempt.id);
  EXPECT_EQ(found, (std::vector{id("a", "lab", 2), id("b"), id("a")}));
  EXPECT_EQ(attempts_->list("lab", "", "a").size(), 2U);
  EXPECT_EQ(attempts_->list("lab", "other", "").size(), 0U);
}

}  // namespace
}  // namespace gpupool::keeper
