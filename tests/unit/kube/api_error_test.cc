// SPDX-License-Identifier: Apache-2.0
#include "kube/api_error.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/kube/test_types.h"

namespace gpupool::kube {
namespace {

using base::ErrorCode;
using test::kGpuJob;
using test::kPod;

const Call kCreatePod{.verb = "create", .type = &kPod, .ns = "lab"};

std::string status(const std::string& reason, int code, const std::string& message = "m",
                   const std::string& details = "{}") {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")" + message +
         R"(","reason":")" + reason + R"(","code":)" + std::to_string(code) + R"(,"details":)" + details +
         "}";
}

struct Case {
  int http;
  const char* reason;
  ErrorCode code;
};

TEST(ApiError, IsTypedByReasonBeforeCode) {
  const Case cases[] = {
      {400, "BadRequest", ErrorCode::kBadRequest},
      {401, "Unauthorized", ErrorCode::kUnauthorized},
      {403, "Forbidden", ErrorCode::kForbidden},
      {404, "NotFound", ErrorCode::kNotFound},
      {405, "MethodNotAllowed", ErrorCode::kBadRequest},
      {409, "AlreadyExists", ErrorCode::kAlreadyExists},
      {409, "Conflict", ErrorCode::kConflict},
      {410, "Expired", ErrorCode::kExpired},
      {410, "Gone", ErrorCode::kExpired},
      {413, "RequestEntityTooLarge", ErrorCode::kBadRequest},
      {422, "Invalid", ErrorCode::kInvalid},
      {429, "TooManyRequests", ErrorCode::kTooManyRequests},
      {500, "InternalError", ErrorCode::kServer},
      {500, "ServerTimeout", ErrorCode::kTimeout},
      {503, "ServiceUnavailable", ErrorCode::kServer},
      {504, "Timeout", ErrorCode::kTimeout},
      {500, "Conflict", ErrorCode::kConflict},
      {409, "", ErrorCode::kConflict},
  };
  for (const Case& c : cases) {
    const base::Error error = api_error(kCreatePod, {c.http, {}, status(c.reason, c.http)});
    EXPECT_EQ(error.code, c.code) << c.http << " " << c.reason;
    EXPECT_EQ(error.reason, c.reason);
    EXPECT_EQ(error.http_status, c.http);
  }
}

TEST(ApiError, NamesVerbKindAndObject) {
  const Call call{.verb = "patch", .type = &kGpuJob, .ns = "lab", .name = "resnet", .subresource = "status"};
  const auto error = api_error(call, {409, {}, status("Conflict", 409, "object has been modified")});
  EXPECT_EQ(error.message, "patch GpuJob/status lab/resnet: object has been modified");
}

TEST(ApiError, AVersionFromTheFutureIsNotATimeout) {
  const std::string cause =
      R"({"causes":[{"reason":"ResourceVersionTooLarge","message":"x"}],"retryAfterSeconds":1})";
  const auto error = api_error(kCreatePod, {504, {}, status("Timeout", 504, "m", cause)});
  EXPECT_EQ(error.code, ErrorCode::kTooLargeVersion);
  EXPECT_EQ(error.retry_after, std::chrono::seconds(1));
  const auto old =
      api_error(kCreatePod, {504, {}, status("Timeout", 504, "Too large resource version: 9, current: 1")});
  EXPECT_EQ(old.code, ErrorCode::kTooLargeVersion);
}

TEST(ApiError, RetryAfterComesFromTheHeaderFirst) {
  const std::string details = R"({"retryAfterSeconds":7})";
  const auto header =
      api_error(kCreatePod, {429, {{"retry-after", "3"}}, status("TooManyRequests", 429, "m", details)});
  EXPECT_EQ(header.retry_after, std::chrono::seconds(3));
  const auto body =
      api_error(kCreatePod, {429, {{"retry-after", "soon"}}, status("TooManyRequests", 429, "m", details)});
  EXPECT_EQ(body.retry_after, std::chrono::seconds(7));
  EXPECT_FALSE(api_error(kCreatePod, {429, {}, status("TooManyRequests", 429)}).retry_after.has_value());
}

TEST(ApiError, NobodyWaitsLongerThanTenMinutesOrLessThanNoTime) {
  for (const char* asked : {"86400", "9223372036854775807"}) {
    const auto details = std::string(R"({"retryAfterSeconds":)") + asked + "}";
    const auto error = api_error(kCreatePod, {429, {}, status("TooManyRequests", 429, "m", details)});
    EXPECT_EQ(error.retry_after, std::chrono::minutes(10)) << asked;
  }
  const auto header = api_error(kCreatePod, {429, {{"retry-after", "4294967295"}}, ""});
  EXPECT_EQ(header.retry_after, std::chrono::minutes(10));
  const auto before = api_error(
      kCreatePod,
      {429, {}, status("TooManyRequests", 429, "m", R"({"retryAfterSeconds":-9223372036854775807})")});
  EXPECT_FALSE(before.retry_after.has_value());
}

TEST(ApiError, ABodyThatIsNoStatusIsTypedByCodeAndQuoted) {
  const auto html = api_error(kCreatePod, {502, {}, "<html>\nbad gateway\n"});
  EXPECT_EQ(html.code, ErrorCode::kServer);
  EXPECT_EQ(html.message, "create Pod in namespace lab: HTTP 502: <html> bad gateway");
  const std::string whole = status("AlreadyExists", 409);
  const auto truncated = api_error(kCreatePod, {409, {}, whole.substr(0, whole.size() / 2)});
  EXPECT_EQ(truncated.code, ErrorCode::kConflict);
  EXPECT_EQ(truncated.reason, "");
  EXPECT_EQ(api_error(kCreatePod, {503, {}, ""}).code, ErrorCode::kServer);
  EXPECT_EQ(api_error(kCreatePod, {302, {}, ""}).code, ErrorCode::kBadRequest);
}

TEST(ApiError, A404WithoutStatusDoesNotSayThatAnObjectIsGone) {
  const Call get_job{.verb = "get", .type = &kGpuJob, .ns = "lab", .name = "a"};
  const auto error = api_error(get_job, {404, {}, "404 page not found\n"});
  EXPECT_EQ(error.code, ErrorCode::kBadRequest);
  EXPECT_NE(error.message.find("is its CRD installed?"), std::string::npos) << error.message;
  const Call get_path{.verb = "get", .path = "/nothing"};
  EXPECT_EQ(api_error(get_path, {404, {}, "404 page not found\n"}).code, ErrorCode::kNotFound);
}

std::string rbac_message(const std::string& verb, const std::string& resource) {
  return R"(x is forbidden: User \"u\" cannot )" + verb + R"( resource \")" + resource +
         R"(\" in API group \"\")";
}

TEST(ApiError, AMissingRuleIsShownAsOneThatCanBePasted) {
  const auto pod = api_error(kCreatePod, {403, {}, status("Forbidden", 403, rbac_message("create", "pods"))});
  EXPECT_NE(
      pod.message.find(
          R"(missing RBAC rule: {apiGroups: [""], resources: ["pods"], verbs: ["create"]} in a Role of namespace lab)"),
      std::string::npos)
      << pod.message;
  const Call call{.verb = "patch", .type = &kGpuJob, .ns = "lab", .name = "a", .subresource = "status"};
  const auto job =
      api_error(call, {403, {}, status("Forbidden", 403, rbac_message("patch", "gpujobs/status"))});
  EXPECT_NE(
      job.message.find(R"({apiGroups: ["gpupool.dev"], resources: ["gpujobs/status"], verbs: ["patch"]})"),
      std::string::npos)
      << job.message;
  const Call all{.verb = "list", .type = &kPod};
  const auto list = api_error(all, {403, {}, status("Forbidden", 403, rbac_message("list", "pods"))});
  EXPECT_NE(list.message.find("in a ClusterRole"), std::string::npos) << list.message;
}

TEST(ApiError, A403OfAnotherOriginGetsNoRule) {
  for (const std::string& message :
       {std::string("exceeded quota: q, requested: pods=1"), rbac_message("impersonate", "users")}) {
    const auto error = api_error(kCreatePod, {403, {}, status("Forbidden", 403, message)});
    EXPECT_EQ(error.message.find("RBAC rule"), std::string::npos) << error.message;
  }
}

TEST(ApiError, ATerminatingNamespaceIsKnown) {
  const std::string message =
      "pods x is forbidden: unable to create new content in namespace lab because it is being terminated";
  EXPECT_TRUE(is_namespace_terminating(api_error(kCreatePod, {403, {}, status("Forbidden", 403, message)})));
  EXPECT_FALSE(is_namespace_terminating(api_error(kCreatePod, {403, {}, status("Forbidden", 403, "no")})));
}

TEST(StatusError, ReadsAWatchsErrorEvent) {
  const auto expired = status_error(status("Expired", 410, "too old resource version"));
  EXPECT_EQ(expired.code, ErrorCode::kExpired);
  EXPECT_EQ(expired.http_status, 410);
  EXPECT_EQ(status_error(status("", 410)).code, ErrorCode::kExpired);
  EXPECT_EQ(status_error("{\"kind\":\"Pod\"}").code, ErrorCode::kParse);
}

}  // namespace
}  // namespace gpupool::kube
