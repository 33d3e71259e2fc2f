// SPDX-License-Identifier: Apache-2.0
#include "runtime/leader/elector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "net/budget_transport.h"
#include "runtime/leader/boot_clock.h"
#include "tests/support/manual_clock.h"
#include "tests/unit/runtime/scripted_transport.h"

namespace gpupool::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

std::string lease(const std::string& holder, int version) {
  return R"({"metadata":{"resourceVersion":")" + std::to_string(version) +
         R"("},"spec":{"holderIdentity":")" + holder + R"(","leaseDurationSeconds":15}})";
}

std::string marked(const std::string& data_version) {
  return R"({"metadata":{"resourceVersion":"7","annotations":{"gpupool.dev/data-version":")" + data_version +
         R"("}},"spec":{"holderIdentity":"","leaseDurationSeconds":1}})";
}

constexpr auto kNotFound = R"({"kind":"Status","reason":"NotFound","code":404})";
constexpr auto kConflict = R"({"kind":"Status","reason":"Conflict","code":409})";

class ElectorTest : public ::testing::Test {
 public:
  ~ElectorTest() override { stop(); }

 protected:
  void start() {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      elector_.run(stop);
      returned_ = true;
    });
  }
  void stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }
  void lead() {
    transport_.answer(404, kNotFound);
    transport_.answer(201, lease("me", 7));
    start();
    ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + seconds(2)));
    ASSERT_TRUE(elector_.leading());
  }
  double master() const {
    return metrics_.expose().find("leader_election_master_status{name=\"op\"} 1") != std::string::npos;
  }

  test::ManualClock clock_;
  base::Metrics metrics_;
  test::ScriptedTransport transport_;
  net::BudgetTransport limited_{transport_, [this](const net::HttpRequest&) {
                                  return std::chrono::duration_cast<milliseconds>(elector_.request_limit());
                                }};
  kube::Client client_{limited_, nullptr, clock_, metrics_, {.max_tries = 1}};
  Elector elector_{client_,  {"ns", "op"},     "me", {}, {"gpupool.dev/data-version", 3, "newer"}, clock_,
                   metrics_, base::Log::none()};
  std::atomic<bool> returned_ = false;
  std::jthread thread_;
};

TEST_F(ElectorTest, CreatesTheLeaseAndLeadsFromBeforeTheCall) {
  EXPECT_FALSE(elector_.leading());
  EXPECT_FALSE(master());
  lead();
  EXPECT_TRUE(master());
  EXPECT_EQ(elector_.term_left(), seconds(10));
  const auto sent = transport_.sent();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].target, "/apis/coordination.k8s.io/v1/namespaces/ns/leases/op");
  EXPECT_EQ(sent[1].method, "POST");
  EXPECT_THAT(sent[1].body, HasSubstr(R"("holderIdentity":"me","leaseDurationSeconds":15,)"));
  EXPECT_EQ(sent[1].timeout, milliseconds(5000));
}

TEST_F(ElectorTest, RenewsUnderTheVersionItKnows) {
  lead();
  transport_.answer(200, lease("me", 8));
  clock_.advance(seconds(2));
  ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + seconds(2)));
  EXPECT_EQ(elector_.term_left(), seconds(10));
  const auto renewal = transport_.sent().back();
  EXPECT_EQ(renewal.method, "PATCH");
  EXPECT_THAT(
      renewal.body,
      HasSubstr(R"({"metadata":{"resourceVersion":"7","annotations":{"gpupool.dev/data-version":"3"}})"));
}

TEST_F(ElectorTest, TheTermEndsByItselfWhileARenewalHangs) {
  lead();
  transport_.hang();
  clock_.advance(seconds(2));
  ASSERT_TRUE(transport_.wait_for_requests(3));
  clock_.advance(seconds(8) - milliseconds(1));
  EXPECT_TRUE(elector_.leading());
  EXPECT_EQ(elector_.request_limit(), milliseconds(1)) << "no call outlives the term";
  clock_.advance(milliseconds(1));
  EXPECT_FALSE(elector_.leading());
  EXPECT_EQ(elector_.term_left(), std::nullopt);
}

TEST_F(ElectorTest, ReturnsWhenAnotherHasTheLease) {
  lead();
  transport_.answer(409, kConflict);
  transport_.answer(200, lease("you", 9));
  clock_.advance(seconds(2));
  thread_.join();
  EXPECT_TRUE(returned_);
  EXPECT_FALSE(elector_.leading());
  EXPECT_FALSE(master());
}

TEST_F(ElectorTest, ReturnsWhereANewerOneHasLed) {
  transport_.answer(200, marked("4"));
  start();
  thread_.join();
  EXPECT_FALSE(elector_.leading());
  elector_.give_up();
  EXPECT_EQ(transport_.sent().size(), 1U) << "it writes nothing";
}

class ElectorAfterTest : public ElectorTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(ElectorAfterTest, LeadsAndLeavesItsOwnVersion) {
  transport_.answer(200, marked(GetParam()));
  transport_.answer(200, lease("me", 8));
  start();
  ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + seconds(2)));
  EXPECT_TRUE(elector_.leading());
  EXPECT_THAT(transport_.sent().back().body, HasSubstr(R"("gpupool.dev/data-version":"3")"));
}

INSTANTIATE_TEST_SUITE_P(DataVersion, ElectorAfterTest, ::testing::Values("3", "2", "", "many"));

TEST_F(ElectorTest, AMinuteOfSleepEndsIt) {
  lead();
  clock_.advance(seconds(60));
  thread_.join();
  EXPECT_FALSE(elector_.leading());
  EXPECT_EQ(transport_.sent().size(), 2U) << "it neither reads nor writes after that";
}

TEST_F(ElectorTest, GivesUpAfterTheEnd) {
  lead();
  stop();
  transport_.answer(200, lease("", 8));
  elector_.give_up();
  EXPECT_FALSE(elector_.leading());
  const auto release = transport_.sent().back();
  EXPECT_THAT(release.body, HasSubstr(R"("resourceVersion":"7")"));
  EXPECT_THAT(release.body, HasSubstr(R"("holderIdentity":"","leaseDurationSeconds":1,)"));
  EXPECT_EQ(release.timeout, milliseconds(1500));
}

TEST_F(ElectorTest, GivesUpWhatAnUnansweredRenewalWrote) {
  lead();
  stop();
  transport_.answer(409, kConflict);
  transport_.answer(200, lease("me", 8));
  transport_.answer(200, lease("", 9));
  elector_.give_up();
  EXPECT_THAT(transport_.sent().back().body, HasSubstr(R"("resourceVersion":"8")"));
}

TEST_F(ElectorTest, LeavesAnothersLeaseAlone) {
  lead();
  stop();
  transport_.answer(409, kConflict);
  transport_.answer(200, lease("you", 8));
  elector_.give_up();
  EXPECT_EQ(transport_.sent().back().method, "GET");
}

TEST_F(ElectorTest, ACandidateGivesUpNothing) {
  elector_.give_up();
  EXPECT_TRUE(transport_.sent().empty());
}

TEST(BootClockTest, WaitsAndGoesForward) {
  BootClock clock;
  const auto before = clock.now();
  EXPECT_TRUE(clock.sleep_for(milliseconds(5), {}));
  EXPECT_GE(clock.now() - before, milliseconds(5));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(clock.sleep_for(std::chrono::hours(1), stop.get_token()));
}

}  // namespace
}  // namespace gpupool::runtime
