// SPDX-License-Identifier: Apache-2.0
#include "runtime/leader/election.h"

#include <gtest/gtest.h>

#include <limits>

namespace gpupool::runtime {
namespace {

using base::ErrorCode;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::WallTime kWall{seconds(1767323045)};  // 2026-01-02T03:04:05Z

// An API server with one election lease.
class Server {
 public:
  std::optional<ElectionLease> read() const { return lease_; }

  base::Result<ElectionLease> create(const ElectionRecord& record) {
    if (lease_) return base::fail(ErrorCode::kAlreadyExists, "exists");
    return store(record);
  }
  base::Result<ElectionLease> write(const std::string& version, const ElectionRecord& record) {
    if (!lease_) return base::fail(ErrorCode::kNotFound, "not found");
    if (lease_->metadata.resource_version != version) return base::fail(ErrorCode::kConflict, "conflict");
    return store(record);
  }
  void remove() { lease_.reset(); }
  // A write of somebody else, on any version.
  void set(const ElectionRecord& record) { store(record); }
  const ElectionRecord& record() const { return lease_->spec; }

 private:
  ElectionLease store(const ElectionRecord& record) {
    lease_.emplace();
    lease_->metadata.resource_version = std::to_string(++version_);
    lease_->spec = record;
    return *lease_;
  }
  std::optional<ElectionLease> lease_;
  int version_ = 100;
};

enum class Fate { kWorks, kLost, kAnswerLost, kConflict };

// A candidate and its clock, which may differ from the clocks of others.
class Candidate {
 public:
  Candidate(Server& server, const std::string& name, base::SteadyTime now)
      : server_(server), election_(name, {}), now_(now) {}

  // Carries out all actions that are due now. Returns the end of its wait; nothing if it has lost.
  std::optional<base::SteadyTime> settle(Fate fate = Fate::kWorks) {
    for (int calls = 0; calls < 20; ++calls) {
      const auto action = election_.next(now_, wall_);
      if (std::holds_alternative<Election::Lost>(action)) return std::nullopt;
      if (const auto* wait = std::get_if<Election::Wait>(&action)) return wait->until;
      ++calls_;
      if (std::holds_alternative<Election::Read>(action)) {
        if (fate == Fate::kWorks || fate == Fate::kConflict) {
          election_.on_read(now_, server_.read());
        } else {
          election_.on_read(now_, base::fail(ErrorCode::kTransport, "away"));
        }
        continue;
      }
      election_.on_written(now_, now_, written(action, fate));
    }
    ADD_FAILURE() << "no rest after 20 calls";
    return std::nullopt;
  }

  // Advances its clock by its waits, until `end`; false if it has lost.
  bool run_until(base::SteadyTime end, Fate fate = Fate::kWorks) {
    while (true) {
      const auto until = settle(fate);
      if (!until) return false;
      if (*until > end) break;
      now_ = *until;
    }
    now_ = end;
    return true;
  }

  bool leads() const { return election_.leads_until() && now_ < *election_.leads_until(); }
  base::SteadyTime now() const { return now_; }
  void sleep(base::Duration how_long) { now_ += how_long; }  // like SIGSTOP
  Election& election() { return election_; }
  int calls() const { return calls_; }
  void set_wall(base::WallTime wall) { wall_ = wall; }

 private:
  base::Result<ElectionLease> written(const Election::Action& action, Fate fate) {
    if (fate == Fate::kLost) return base::fail(ErrorCode::kTransport, "away");
    if (fate == Fate::kConflict) return base::fail(ErrorCode::kConflict, "conflict");
    const auto* create = std::get_if<Election::Create>(&action);
    const auto* write = std::get_if<Election::Write>(&action);
    auto answer =
        create ? server_.create(create->record) : server_.write(write->resource_version, write->record);
    if (fate == Fate::kAnswerLost) return base::fail(ErrorCode::kTimeout, "no answer");
    return answer;
  }

  Server& server_;
  Election election_;
  base::SteadyTime now_;
  base::WallTime wall_ = kWall;
  int calls_ = 0;
};

class ElectionTest : public ::testing::Test {
 protected:
  static base::SteadyTime at(base::Duration time) { return base::SteadyTime(std::chrono::hours(1)) + time; }
  Server server_;
  Candidate a_{server_, "a", at(seconds(0))};
  Candidate b_{server_, "b", at(seconds(0))};
};

TEST_F(ElectionTest, TheFirstCreatesTheLease) {
  EXPECT_EQ(a_.settle(), at(seconds(2)));
  EXPECT_TRUE(a_.leads());
  EXPECT_EQ(a_.election().leads_until(), at(seconds(10)));
  const ElectionRecord wanted{"a", 15, "2026-01-02T03:04:05.000000Z", "2026-01-02T03:04:05.000000Z", 0};
  EXPECT_EQ(server_.record(), wanted);
}

TEST_F(ElectionTest, TheLeaderRenewsWithoutReading) {
  a_.settle();
  const int calls = a_.calls();
  a_.set_wall(kWall + seconds(2));
  EXPECT_TRUE(a_.run_until(at(seconds(2))));
  EXPECT_EQ(a_.calls(), calls + 1);
  EXPECT_EQ(a_.election().leads_until(), at(seconds(12)));
  const ElectionRecord wanted{"a", 15, "2026-01-02T03:04:05.000000Z", "2026-01-02T03:04:07.000000Z", 0};
  EXPECT_EQ(server_.record(), wanted);
}

TEST_F(ElectionTest, TheOtherWaitsWhileTheLeaderRenews) {
  for (int second = 0; second <= 60; ++second) {
    EXPECT_TRUE(a_.run_until(at(seconds(second))));
    a_.set_wall(kWall + seconds(second));
    EXPECT_TRUE(b_.run_until(at(seconds(second))));
    ASSERT_TRUE(a_.leads());
    ASSERT_FALSE(b_.leads());
  }
  EXPECT_EQ(b_.election().holder(), "a");
}

TEST_F(ElectionTest, ADeadLeaderIsFollowedExactlyWhenItsLeaseExpires) {
  a_.settle();
  b_.settle();
  EXPECT_TRUE(b_.run_until(at(seconds(15) - milliseconds(1))));
  EXPECT_FALSE(b_.leads());
  EXPECT_TRUE(b_.run_until(at(seconds(15))));
  EXPECT_TRUE(b_.leads());
  EXPECT_EQ(server_.record().holder, "b");
  EXPECT_EQ(server_.record().transitions, 1);
}

TEST_F(ElectionTest, ExpiryIsCountedFromTheLastChangeSeen) {
  a_.settle();
  b_.sleep(milliseconds(1999));  // reads just before the last renewal
  b_.settle();
  a_.set_wall(kWall + seconds(2));
  a_.run_until(at(seconds(2)));  // then it dies
  EXPECT_TRUE(b_.run_until(at(seconds(17))));
  EXPECT_FALSE(b_.leads());
  EXPECT_TRUE(b_.run_until(at(seconds(18))));
  EXPECT_TRUE(b_.leads());
}

TEST_F(ElectionTest, LooksAgainAtTheMomentOfExpiry) {
  Election election("d", {.retry_period = seconds(4)});
  server_.set({"c", 15, "", "", 0});
  for (const int second : {0, 2, 4, 6, 8, 10, 12, 14}) {
    ASSERT_TRUE(std::holds_alternative<Election::Read>(election.next(at(seconds(second)), kWall)));
    election.on_read(at(seconds(second)), server_.read());
  }
  const auto action = election.next(at(seconds(14)), kWall);
  EXPECT_EQ(std::get<Election::Wait>(action).until, at(seconds(15)));
}

TEST_F(ElectionTest, AnothersDurationCounts) {
  server_.set({"c", 40, "", "", 3});
  a_.settle();
  EXPECT_TRUE(a_.run_until(at(seconds(40) - milliseconds(1))));
  EXPECT_FALSE(a_.leads());
  EXPECT_TRUE(a_.run_until(at(seconds(40))));
  EXPECT_TRUE(a_.leads());
  EXPECT_EQ(server_.record().transitions, 4);
}

TEST_F(ElectionTest, AnAbsurdDurationKeepsNobodyOutForEver) {
  server_.set({"c", std::numeric_limits<std::int64_t>::max(), "", "", 0});
  EXPECT_TRUE(a_.run_until(at(std::chrono::hours(1))));
  EXPECT_TRUE(a_.leads());
}

TEST_F(ElectionTest, ARecordWithoutDurationHasOurs) {
  server_.set({"c", 0, "", "", 0});
  EXPECT_TRUE(a_.run_until(at(seconds(15) - milliseconds(1))));
  EXPECT_FALSE(a_.leads());
  EXPECT_TRUE(a_.run_until(at(seconds(15))));
  EXPECT_TRUE(a_.leads());
}

TEST_F(ElectionTest, WallClocksMeanNothing) {
  b_.set_wall(kWall + std::chrono::hours(1));
  a_.set_wall(kWall - std::chrono::hours(1));
  a_.settle();
  EXPECT_TRUE(b_.run_until(at(seconds(14))));
  EXPECT_FALSE(b_.leads());
  EXPECT_TRUE(b_.run_until(at(seconds(15))));
  EXPECT_TRUE(b_.leads());
  EXPECT_EQ(server_.record().acquire_time, "2026-01-02T04:04:05.000000Z");
}

TEST_F(ElectionTest, ALeaderThatSleptIsNoLeader) {
  a_.settle();
  a_.sleep(seconds(10) - milliseconds(1));
  EXPECT_TRUE(a_.leads());
  a_.sleep(milliseconds(1));
  EXPECT_FALSE(a_.leads());
  EXPECT_EQ(a_.settle(), std::nullopt);
  EXPECT_EQ(a_.election().leads_until(), std::nullopt);
  EXPECT_EQ(a_.settle(), std::nullopt) << "it does not come back";
}

TEST_F(ElectionTest, ALeaderWithoutServerEndsAtTheRenewDeadline) {
  a_.settle();
  EXPECT_TRUE(a_.run_until(at(seconds(10) - milliseconds(1)), Fate::kLost));
  EXPECT_TRUE(a_.leads());
  EXPECT_FALSE(a_.run_until(at(seconds(10)), Fate::kLost));
  EXPECT_FALSE(a_.leads());
}

TEST_F(ElectionTest, ItsTermEndsBeforeAnothersCanBegin) {
  a_.settle();
  a_.run_until(at(seconds(2)), Fate::kAnswerLost);  // the server has renewed it; the answer is lost
  b_.settle();
  b_.run_until(at(seconds(60)));
  EXPECT_LT(*a_.election().leads_until(), at(seconds(10) + milliseconds(1)));
  ASSERT_TRUE(b_.leads());
  EXPECT_EQ(a_.settle(), a_.now() + seconds(2)) << "still within its own term";
}

TEST_F(ElectionTest, AServerThatComesBackInTimeCostsNothing) {
  a_.settle();
  EXPECT_TRUE(a_.run_until(at(seconds(7)), Fate::kLost));
  EXPECT_TRUE(a_.run_until(at(seconds(9))));
  EXPECT_TRUE(a_.leads());
  EXPECT_GT(*a_.election().leads_until(), at(seconds(16)));
}

TEST_F(ElectionTest, ARenewalWhoseAnswerWasLostIsFoundAgain) {
  a_.settle();
  a_.run_until(at(seconds(2)), Fate::kAnswerLost);
  EXPECT_EQ(a_.election().leads_until(), at(seconds(10))) << "only what was confirmed counts";
  a_.set_wall(kWall + seconds(4));
  EXPECT_TRUE(a_.run_until(at(seconds(4))));
  EXPECT_EQ(a_.election().leads_until(), at(seconds(14)));
  EXPECT_EQ(server_.record().transitions, 0);
}

TEST_F(ElectionTest, ACreationWhoseAnswerWasLostIsOurs) {
  a_.settle(Fate::kAnswerLost);
  EXPECT_FALSE(a_.leads());
  a_.sleep(seconds(1));
  a_.run_until(a_.now(), Fate::kAnswerLost);
  a_.run_until(at(seconds(3)));
  EXPECT_TRUE(a_.leads());
  EXPECT_EQ(server_.record().transitions, 0);
}

TEST_F(ElectionTest, OfTwoThatTakeAFreeLeaseOneWins) {
  server_.set({"", 1, "", "", 4});
  ASSERT_TRUE(std::holds_alternative<Election::Read>(b_.election().next(b_.now(), kWall)));
  b_.election().on_read(b_.now(), server_.read());  // both have read that it is free
  a_.settle();
  EXPECT_TRUE(a_.leads());
  EXPECT_EQ(b_.settle(), at(seconds(1)));
  EXPECT_FALSE(b_.leads());
  EXPECT_EQ(server_.record().holder, "a");
  EXPECT_EQ(server_.record().transitions, 5);
}

TEST_F(ElectionTest, ALeaderThatSeesAnotherHolderEnds) {
  a_.settle();
  server_.set({"c", 15, "", "", 9});
  EXPECT_FALSE(a_.run_until(at(seconds(2))));
  EXPECT_FALSE(a_.leads());
  EXPECT_EQ(server_.record().holder, "c");
}

TEST_F(ElectionTest, AnEditOfAnotherFieldOnlyCostsARead) {
  a_.settle();
  server_.set(server_.record());  // another resourceVersion
  EXPECT_TRUE(a_.run_until(at(seconds(2))));
  EXPECT_EQ(a_.election().leads_until(), at(seconds(12)));
}

TEST_F(ElectionTest, AServerThatAlwaysRefusesIsNotStormed) {
  a_.settle();
  const int calls = a_.calls();
  EXPECT_FALSE(a_.run_until(at(seconds(10)), Fate::kConflict));
  // First a write, a read and a write at once; then one of each per second.
  EXPECT_LE(a_.calls() - calls, 19);
}

TEST_F(ElectionTest, ADeletedLeaseIsMadeAgainByItsHolder) {
  a_.settle();
  b_.settle();
  server_.remove();
  EXPECT_TRUE(b_.run_until(at(milliseconds(1500))));
  EXPECT_FALSE(b_.leads()) << "a was promised 15 s";
  EXPECT_TRUE(a_.run_until(at(seconds(2))));
  EXPECT_TRUE(a_.leads());
  EXPECT_EQ(server_.record().holder, "a");
  a_.set_wall(kWall + seconds(4));
  EXPECT_TRUE(b_.run_until(at(seconds(14))));
  EXPECT_FALSE(b_.leads());
}

TEST_F(ElectionTest, ADeletedLeaseOfADeadLeaderIsTakenAtItsExpiry) {
  a_.settle();
  b_.settle();
  server_.remove();
  EXPECT_TRUE(b_.run_until(at(seconds(15) - milliseconds(1))));
  EXPECT_FALSE(b_.leads());
  EXPECT_TRUE(b_.run_until(at(seconds(15))));
  EXPECT_TRUE(b_.leads());
}

TEST_F(ElectionTest, AReleasedLeaseIsTakenAtTheNextLook) {
  a_.settle();
  b_.settle();
  a_.sleep(milliseconds(500));
  const auto release = a_.election().release(kWall);
  ASSERT_TRUE(release.has_value());
  EXPECT_FALSE(a_.leads());
  EXPECT_EQ(release->record.holder, "");
  EXPECT_EQ(release->record.duration_seconds, 1);
  ASSERT_TRUE(server_.write(release->resource_version, release->record).has_value());
  EXPECT_TRUE(b_.run_until(at(seconds(1))));
  EXPECT_TRUE(b_.leads());
  EXPECT_EQ(a_.settle(), std::nullopt) << "who has released does not come back";
}

TEST_F(ElectionTest, OneThatDoesNotLeadReleasesNothing) {
  a_.settle();
  b_.settle();
  EXPECT_EQ(b_.election().release(kWall), std::nullopt);
}

TEST_F(ElectionTest, ReadsThatFailAreRepeatedCalmly) {
  EXPECT_TRUE(a_.run_until(at(seconds(20)), Fate::kLost));
  EXPECT_EQ(a_.calls(), 21);
  EXPECT_TRUE(a_.run_until(at(seconds(22))));
  EXPECT_TRUE(a_.leads());
}

}  // namespace
}  // namespace gpupool::runtime
