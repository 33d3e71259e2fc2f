// SPDX-License-Identifier: Apache-2.0
#include "serve/job_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/metrics.h"
#include "books/verify.h"
#include "tests/unit/ledger/books_fixture.h"

namespace gpupool::ledger {
namespace {

using test::BooksInFolder;

// A job with this many segments, as the server sends it.
std::string job(const std::string& uid, int segments) {
  std::string all;
  for (int i = 1; i <= segments; ++i)
    all += std::string(i > 1 ? "," : "") + R"({"number":)" + std::to_string(i) +
           R"(,"pool":"lab","currency":"EUR","perGpuHour":"3.600000","gpus":1,"nodes":["n-)" + uid +
           R"("],"nodeCount":1,"cost":"0.010000","from":"2026-11-01T00:00:)" + std::to_string(10 + i) +
           R"(Z","to":"2026-11-01T00:00:)" + std::to_string(20 + i) + R"(Z"})";
  return R"({"metadata":{"name":"j","namespace":"ns","uid":")" + uid + R"(","resourceVersion":"7"},)" +
         R"("status":{"bill":{"currency":"EUR","segments":[)" + all + "]}}}";
}

class Feed : public testing::Test {
 protected:
  base::Metrics metrics_;
  base::Log log_{base::LogLevel::kError};
  BooksInFolder books_;
  Intake intake_{*books_, metrics_, log_};
  JobFeed feed_{intake_};
};

TEST_F(Feed, EntersAListAtItsEnd) {
  ASSERT_TRUE(feed_.item(job("a", 1)));
  ASSERT_TRUE(feed_.item(job("b", 0)));
  EXPECT_EQ(books_.entries().size(), 0U);
  feed_.commit();
  EXPECT_EQ(books_.entries().size(), 1U);
}

TEST_F(Feed, DropsAListThatFailed) {
  ASSERT_TRUE(feed_.item(job("a", 1)));
  feed_.abandon();
  feed_.commit();
  EXPECT_EQ(books_.entries().size(), 0U);
}

TEST_F(Feed, EntersEventsAtOnceAlsoTheLastStateOfADeletedJob) {
  const auto line = [](const char* type, const std::string& object) {
    return std::string(R"({"type":")") + type + R"(","object":)" + object + "}";
  };
  EXPECT_EQ(feed_.event("ADDED", line("ADDED", job("a", 0))).value_or(""), "7");
  ASSERT_TRUE(feed_.event("MODIFIED", line("MODIFIED", job("a", 1))));
  EXPECT_EQ(books_.entries().size(), 1U);
  ASSERT_TRUE(feed_.event("DELETED", line("DELETED", job("b", 1))));
  EXPECT_EQ(books_.entries().size(), 2U);
  EXPECT_FALSE(feed_.event("MODIFIED", "{"));
}

TEST_F(Feed, KeepsWhatCannotBeEnteredAndTriesAgain) {
  const auto blocker = open_database(books_.path(), Access::kReadWrite);
  ASSERT_TRUE(blocker);
  ASSERT_TRUE((*blocker)->run("ALTER TABLE posting RENAME TO gone"));
  ASSERT_TRUE(feed_.item(job("a", 1)));
  feed_.commit();
  EXPECT_EQ(books_.entries().size(), 0U) << "nothing of it";
  EXPECT_NE(intake_.retry(), "");
  ASSERT_TRUE((*blocker)->run("ALTER TABLE gone RENAME TO posting"));
  EXPECT_EQ(intake_.retry(), "");
  EXPECT_EQ(books_.entries().size(), 1U);
  EXPECT_TRUE(verify(*books_, std::nullopt)->findings.empty());
}

}  // namespace
}  // namespace gpupool::ledger
