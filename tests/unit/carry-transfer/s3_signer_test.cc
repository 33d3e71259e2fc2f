// SPDX-License-Identifier: Apache-2.0
// Examples that AWS has published: the test suite of Signature Version 4, and the documentation of S3.
#include "s3/signer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "digest/sha256.h"

namespace gpupool::carry::s3 {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

const Key kSuiteKey{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
const Key kDocumentsKey{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
constexpr char kSuiteDate[] = "20150830T123600Z";
constexpr char kDocumentsDate[] = "20130524T000000Z";

std::string of_suite(SignedRequest request) {
  request.headers.push_back({"Host", "example.amazonaws.com"});
  request.headers.push_back({"X-Amz-Date", kSuiteDate});
  if (request.payload_hash.empty()) request.payload_hash = digest::sha256_hex("");
  return authorization(request, kSuiteKey, {.region = "us-east-1", .service = "service"}, kSuiteDate);
}

std::string of_documents(SignedRequest request) {
  if (request.payload_hash.empty()) request.payload_hash = digest::sha256_hex("");
  request.headers.push_back({"Host", "examplebucket.s3.amazonaws.com"});
  request.headers.push_back({"x-amz-date", kDocumentsDate});
  request.headers.push_back({"x-amz-content-sha256", request.payload_hash});
  return authorization(request, kDocumentsKey, {.region = "us-east-1"}, kDocumentsDate);
}

TEST(S3Signer, SuiteVanilla) {
  EXPECT_EQ(of_suite({.method = "GET", .path = "/"}),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            "SignedHeaders=host;x-amz-date, "
            "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
  EXPECT_THAT(of_suite({.method = "POST", .path = "/"}),
              EndsWith("5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"));
}

TEST(S3Signer, SuiteQueries) {
  EXPECT_THAT(of_suite({.method = "GET", .path = "/", .query = "Param2=value2&Param1=value1"}),
              EndsWith("b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"));
}

TEST(S3Signer, SuiteHeaderValuesAreTrimmed) {
  EXPECT_THAT(of_suite({.method = "GET",
                        .path = "/",
                        .headers = {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}}}),
              EndsWith("acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"));
}

TEST(S3Signer, DocumentsGetObject) {
  EXPECT_EQ(of_documents({.method = "GET", .path = "/test.txt", .headers = {{"Range", "bytes=0-9"}}}),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(S3Signer, DocumentsPutObject) {
  EXPECT_THAT(of_documents({.method = "PUT",
                            .path = "/test%24file.text",
                            .headers = {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                                        {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                            .payload_hash = digest::sha256_hex("Welcome to Amazon S3.")}),
              EndsWith("98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));
}

TEST(S3Signer, DocumentsSubresourceHasAnEmptyValue) {
  EXPECT_THAT(of_documents({.method = "GET", .path = "/", .query = "lifecycle"}),
              EndsWith("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
}

TEST(S3Signer, DocumentsListObjects) {
  EXPECT_THAT(of_documents({.method = "GET", .path = "/", .query = "prefix=J&max-keys=2"}),
              EndsWith("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(S3Signer, QueriesAreSortedByNameAndThenByValue) {
  EXPECT_EQ(canonical_query("uploads"), "uploads=");
  EXPECT_EQ(canonical_query("a1=x&a=z&a=y&a-b=w"), "a=y&a=z&a-b=w&a1=x");
  EXPECT_EQ(canonical_query(""), "");
}

TEST(S3Signer, Dates) {
  EXPECT_EQ(amz_date(std::chrono::system_clock::time_point(std::chrono::seconds(1440938160))), kSuiteDate);
}

}  // namespace
}  // namespace gpupool::carry::s3
