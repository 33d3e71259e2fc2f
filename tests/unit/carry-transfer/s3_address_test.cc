// SPDX-License-Identifier: Apache-2.0
#include "s3/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpupool::carry::s3 {
namespace {

Outcome<Address> read_address(const std::string& endpoint, const std::string& bucket,
                              const std::string& region = "") {
  api::S3Location location;
  location.endpoint = endpoint;
  location.bucket = bucket;
  location.region = region;
  return address_of(location);
}

std::string url(const std::string& endpoint, const std::string& bucket,
                const std::string& region = kDefaultRegion) {
  const auto address = read_address(endpoint, bucket);
  return address ? url_of(*address, region, "/key") : address.error().message;
}

TEST(S3Address, Dialects) {
  EXPECT_EQ(url("", "data-1"), "https://data-1.s3.us-east-1.amazonaws.com/key");
  EXPECT_EQ(url("", "data.1", "eu-west-3"), "https://s3.eu-west-3.amazonaws.com/data.1/key");
  EXPECT_EQ(url("", "data", "cn-north-1"), "https://data.s3.cn-north-1.amazonaws.com.cn/key");
  EXPECT_EQ(url("http://minio:9000/", "data"), "http://minio:9000/data/key");
  EXPECT_EQ(url("https://h/s3/", "data"), "https://h/s3/data/key");
}

TEST(S3Address, BucketNames) {
  for (const char* good : {"abc", "a.b-c", "0.1.2", "1.2.3.400"}) EXPECT_TRUE(read_address("", good)) << good;
  for (const std::string& bad :
       {std::string(), std::string("ab"), std::string(64, 'a'), std::string("a..b"), std::string("a/b"),
        std::string("Abc"), std::string("-abc"), std::string("abc-"), std::string(".abc"),
        std::string("1.2.3.4"), std::string("a_b"), std::string("a b"), std::string("a?b"),
        std::string("abc\n"), std::string("..."), std::string("a@b")}) {
    const auto address = read_address("", bad);
    ASSERT_FALSE(address) << bad;
    EXPECT_EQ(address.error().kind, FailureKind::kInvalid);
  }
}

TEST(S3Address, EndpointsAndRegions) {
  for (const char* bad : {"minio:9000", "ftp://h", "http://u:hunter2@h", "http://h?x=hunter2", "http://"}) {
    const auto address = read_address(bad, "data");
    ASSERT_FALSE(address) << bad;
    EXPECT_THAT(address.error().message, testing::Not(testing::HasSubstr("hunter2")));
  }
  EXPECT_FALSE(read_address("", "data", "evil.com/"));
  EXPECT_FALSE(read_address("", "data", "evil.com#"));
  EXPECT_FALSE(is_region("evil.com"));
  EXPECT_TRUE(is_region("us-gov-east-1"));
}

}  // namespace
}  // namespace gpupool::carry::s3
