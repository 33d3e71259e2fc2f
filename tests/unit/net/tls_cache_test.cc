// SPDX-License-Identifier: Apache-2.0
#include "net/tls_cache.h"

#include <gtest/gtest.h>

#include <latch>
#include <thread>

namespace gpupool::net {
namespace {

using namespace std::chrono_literals;

constexpr base::SteadyTime kNow{1h};

struct Source {
  int calls = 0;
  bool broken = false;
  TlsMaterial answer{.ca_pem = "one"};
  std::function<base::Result<TlsMaterial>()> function() {
    return [this]() -> base::Result<TlsMaterial> {
      ++calls;
      if (broken) return base::fail(base::ErrorCode::kIo, "gone");
      return answer;
    };
  }
};

TEST(TlsCache, WithoutASourceTheSystemDecides) {
  TlsCache cache(nullptr);
  EXPECT_EQ(**cache.get(kNow, true), TlsMaterial{});
}

TEST(TlsCache, AsksAgainWhenTheAnswerIsOldOrMustBeFresh) {
  Source source;
  TlsCache cache(source.function());
  const auto first = *cache.get(kNow, false);
  EXPECT_EQ(first->ca_pem, "one");
  (void)cache.get(kNow + TlsCache::kMaxAge - 1ns, false);
  EXPECT_EQ(source.calls, 1);
  EXPECT_EQ(*cache.get(kNow + TlsCache::kMaxAge, false), first);  // asked again; the answer is the same
  EXPECT_EQ(source.calls, 2);
  source.answer.ca_pem = "two";
  EXPECT_EQ(*cache.get(kNow + TlsCache::kMaxAge, false), first);
  EXPECT_EQ((*cache.get(kNow + TlsCache::kMaxAge, true))->ca_pem, "two");
}

TEST(TlsCache, AnErrorKeepsTheLastGoodAnswer) {
  Source source;
  TlsCache cache(source.function());
  const auto good = *cache.get(kNow, true);
  source.broken = true;
  EXPECT_EQ(*cache.get(kNow + 1h, true), good);
}

TEST(TlsCache, WithoutAGoodAnswerTheErrorIsPassedOnAndTheNextCallAsksAgain) {
  Source source;
  source.broken = true;
  TlsCache cache(source.function());
  const auto failed = cache.get(kNow, false);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, base::ErrorCode::kIo);
  EXPECT_EQ(failed.error().message, "TLS material: gone");
  source.broken = false;
  EXPECT_EQ((*cache.get(kNow, false))->ca_pem, "one");
}

TEST(TlsCache, ASlowSourceDoesNotHoldUpOthers) {
  std::latch asked(1);
  std::latch answer(1);
  int calls = 0;
  TlsCache cache([&]() -> base::Result<TlsMaterial> {
    if (++calls == 2) {
      asked.count_down();
      answer.wait();
      return TlsMaterial{.ca_pem = "new"};
    }
    return TlsMaterial{.ca_pem = "old"};
  });
  (void)cache.get(kNow, false);
  std::jthread slow([&] { EXPECT_EQ((*cache.get(kNow + 1h, true))->ca_pem, "new"); });
  asked.wait();
  EXPECT_EQ((*cache.get(kNow + 1h, true))->ca_pem, "old");
  answer.count_down();
}

}  // namespace
}  // namespace gpupool::net
