// SPDX-License-Identifier: Apache-2.0
#include "kube/retry.h"

#include <gtest/gtest.h>

namespace gpupool::kube {
namespace {

using base::Error;
using base::ErrorCode;
using std::chrono::milliseconds;
using std::chrono::seconds;

Error http(int status, std::optional<milliseconds> retry_after = std::nullopt) {
  const auto code = status == 429   ? ErrorCode::kTooManyRequests
                    : status == 504 ? ErrorCode::kTimeout
                                    : ErrorCode::kServer;
  return {code, "", status, "", retry_after};
}

std::optional<base::Duration> read_delay(const Error& error, int tries = 1) {
  return retry_delay({true, tries, 5, 0}, error);
}
std::optional<base::Duration> write_delay(const Error& error, int tries = 1) {
  return retry_delay({false, tries, 5, 0}, error);
}

TEST(Retry, ReadsAreRepeatedAfterWhatMayPass) {
  for (const int status : {429, 500, 502, 503, 504}) EXPECT_TRUE(read_delay(http(status))) << status;
  EXPECT_TRUE(read_delay({ErrorCode::kTransport, ""}));
}

TEST(Retry, ReadsAreNotRepeatedAfterAnAnswer) {
  for (const auto code :
       {ErrorCode::kNotFound, ErrorCode::kForbidden, ErrorCode::kExpired, ErrorCode::kBadRequest,
        ErrorCode::kParse, ErrorCode::kUnauthorized, ErrorCode::kCancelled, ErrorCode::kTimeout}) {
    EXPECT_FALSE(read_delay({code, ""})) << to_string(code);
  }
  EXPECT_FALSE(read_delay({ErrorCode::kTooLargeVersion, "", 504}));
}

TEST(Retry, AWriteThatMayHaveHappenedIsNeverRepeated) {
  EXPECT_FALSE(write_delay({ErrorCode::kTransport, ""}));
  EXPECT_FALSE(write_delay({ErrorCode::kTimeout, ""}));
  for (const int status : {500, 502, 504}) EXPECT_FALSE(write_delay(http(status, seconds(1)))) << status;
  EXPECT_FALSE(write_delay(http(503)));
}

TEST(Retry, AWriteThatWasRefusedIsRepeated) {
  EXPECT_TRUE(write_delay(http(429)));
  EXPECT_TRUE(write_delay(http(503, seconds(1))));
}

TEST(Retry, RetryAfterIsTheLeastDelay) {
  EXPECT_EQ(*write_delay(http(429, seconds(3))), seconds(3));
  EXPECT_EQ(*retry_delay({false, 1, 5, 0.5}, http(429, seconds(4))), seconds(5));
  EXPECT_GT(*write_delay(http(429, seconds(0))), base::Duration::zero());
}

TEST(Retry, AVeryLongRetryAfterIsTheCallers) { EXPECT_FALSE(read_delay(http(429, seconds(31)))); }

TEST(Retry, DelaysDoubleUpToALimit) {
  EXPECT_EQ(*read_delay(http(500), 1), milliseconds(100));
  EXPECT_EQ(*read_delay(http(500), 2), milliseconds(200));
  EXPECT_EQ(*read_delay(http(500), 4), milliseconds(800));
  EXPECT_EQ(*retry_delay({true, 99, 100, 0}, http(500)), seconds(5));
}

TEST(Retry, EndsWithTheLastTry) {
  EXPECT_TRUE(read_delay(http(500), 4));
  EXPECT_FALSE(read_delay(http(500), 5));
  EXPECT_FALSE(retry_delay({true, 1, 1, 0}, http(500)));
}

}  // namespace
}  // namespace gpupool::kube
