// SPDX-License-Identifier: Apache-2.0
#include "kube/api_error.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace gpupool::kube {

namespace {

struct StatusCause {
  std::string reason;
};
struct StatusDetails {
  std::vector<StatusCause> causes;
  std::int64_t retry_after_seconds = 0;
};
struct Status {
  std::string kind;
  std::string message;
  std::string reason;
  std::int64_t code = 0;
  StatusDetails details;
};
// What gpupool's own servers answer (net/json_answer.h).
struct OwnError {
  std::string error;
};

}  // namespace
}  // namespace gpupool::kube

template <>
struct gpupool::base::json::Schema<gpupool::kube::StatusCause> {
  using T = kube::StatusCause;
  static constexpr auto fields = std::array{field<&T::reason>("reason")};
};
template <>
struct gpupool::base::json::Schema<gpupool::kube::StatusDetails> {
  using T = kube::StatusDetails;
  static constexpr auto fields =
      std::array{field<&T::causes>("causes"), field<&T::retry_after_seconds>("retryAfterSeconds")};
};
template <>
struct gpupool::base::json::Schema<gpupool::kube::Status> {
  using T = kube::Status;
  static constexpr auto fields =
      std::array{field<&T::kind>("kind"), field<&T::message>("message"), field<&T::reason>("reason"),
                 field<&T::code>("code"), field<&T::details>("details")};
};
template <>
struct gpupool::base::json::Schema<gpupool::kube::OwnError> {
  using T = kube::OwnError;
  static constexpr auto fields = std::array{field<&T::error>("error")};
};

namespace gpupool::kube {
namespace {

using base::ErrorCode;

constexpr char kMissingRule[] = "; missing RBAC rule: ";

struct ReasonCode {
  std::string_view reason;
  ErrorCode code;
};

// The StatusReasons of apimachinery that have an ErrorCode. Other answers are mapped by their HTTP code.
constexpr std::array kReasons{
    ReasonCode{"Unauthorized", ErrorCode::kUnauthorized},
    ReasonCode{"Forbidden", ErrorCode::kForbidden},
    ReasonCode{"NotFound", ErrorCode::kNotFound},
    ReasonCode{"AlreadyExists", ErrorCode::kAlreadyExists},
    ReasonCode{"Conflict", ErrorCode::kConflict},
    ReasonCode{"Gone", ErrorCode::kExpired},
    ReasonCode{"Expired", ErrorCode::kExpired},
    ReasonCode{"Invalid", ErrorCode::kInvalid},
    ReasonCode{"Timeout", ErrorCode::kTimeout},
    ReasonCode{"ServerTimeout", ErrorCode::kTimeout},
    ReasonCode{"TooManyRequests", ErrorCode::kTooManyRequests},
    ReasonCode{"BadRequest", ErrorCode::kBadRequest},
};

ErrorCode code_of_http(int http) {
  switch (http) {
    case 401:
      return ErrorCode::kUnauthorized;
    case 403:
      return ErrorCode::kForbidden;
    case 404:
      return ErrorCode::kNotFound;
    case 409:
      return ErrorCode::kConflict;
    case 410:
      return ErrorCode::kExpired;
    case 422:
      return ErrorCode::kInvalid;
    case 429:
      return ErrorCode::kTooManyRequests;
    case 504:
      return ErrorCode::kTimeout;
    default:
      return http >= 500 ? ErrorCode::kServer : ErrorCode::kBadRequest;
  }
}

ErrorCode code_of(const Status& status, int http) {
  for (const StatusCause& cause : status.details.causes) {
    if (cause.reason == "ResourceVersionTooLarge") return ErrorCode::kTooLargeVersion;
  }
  // Servers before 1.20 send no cause for this.
  if (status.message.find("Too large resource version") != std::string::npos)
    return ErrorCode::kTooLargeVersion;
  for (const ReasonCode& entry : kReasons) {
    if (entry.reason == status.reason) return entry.code;
  }
  return code_of_http(http);
}

// The longest Retry-After that is accepted.
constexpr std::int64_t kMaxRetryAfterSeconds = 600;

std::chrono::milliseconds retry_after(std::int64_t asked) {
  return std::chrono::seconds(std::clamp<std::int64_t>(asked, 0, kMaxRetryAfterSeconds));
}

std::optional<std::chrono::milliseconds> seconds_of(std::string_view text) {
  std::uint32_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return retry_after(seconds);
}

// The beginning of a body that is no Status, for example a proxy's HTML; for messages.
std::string excerpt(std::string_view body) {
  std::string text;
  for (const char c : body.substr(0, 200)) text += c < ' ' || c > '~' ? ' ' : c;
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

// Only RBAC's refusal names the verb and the resource in this way; quotas and admission plugins answer 403
// too.
bool is_missing_rule(const Call& call, const std::string& message) {
  if (call.type == nullptr) return message.find(" cannot get path ") != std::string::npos;
  std::string resource(call.type->plural);
  if (!call.subresource.empty()) resource += "/" + call.subresource;
  return message.find(" cannot " + std::string(call.verb) + " resource \"" + resource + "\"") !=
         std::string::npos;
}

std::optional<Status> parse_status(std::string_view body) {
  auto status = base::json::read<Status>(body);
  if (!status || status->kind != "Status") return std::nullopt;
  return std::move(*status);
}

base::Error from_status(const Status& status, int http) {
  base::Error error{code_of(status, http), status.message, http, status.reason};
  if (status.details.retry_after_seconds > 0) {
    error.retry_after = retry_after(status.details.retry_after_seconds);
  }
  if (error.message.empty()) error.message = status.reason;
  return error;
}

base::Error without_status(const Call& call, const net::HttpResponse& response) {
  base::Error error{code_of_http(response.status), "HTTP " + std::to_string(response.status),
                    response.status};
  if (const auto own = base::json::read<OwnError>(response.body); own && !own->error.empty()) {
    error.message = own->error;
  } else if (const std::string text = excerpt(response.body); !text.empty()) {
    error.message += ": " + text;
  }
  if (response.status == 404 && call.type != nullptr) {
    error.code = ErrorCode::kBadRequest;
    error.message += " (the server does not know the kind " + std::string(call.type->kind) + " of " +
                     (call.type->group.empty() ? "" : std::string(call.type->group) + "/") +
                     std::string(call.type->version) + "; is its CRD installed?)";
  }
  return error;
}

}  // namespace

base::Error api_error(const Call& call, const net::HttpResponse& response) {
  const auto status = parse_status(response.body);
  base::Error error = status ? from_status(*status, response.status) : without_status(call, response);
  if (const auto header = response.headers.find("retry-after"); header != response.headers.end()) {
    if (const auto wait = seconds_of(header->second)) error.retry_after = wait;
  }
  if (error.code == ErrorCode::kForbidden && is_missing_rule(call, error.message)) {
    error.message += kMissingRule + call.rbac_rule();
  }
  error.message = call.describe() + ": " + error.message;
  return error;
}

base::Error status_error(std::string_view status_json) {
  const auto status = parse_status(status_json);
  if (!status) return {ErrorCode::kParse, "not a Status: " + excerpt(status_json)};
  return from_status(*status, static_cast<int>(status->code));
}

bool is_refusal(const base::Error& error) {
  return error.code == ErrorCode::kInvalid || error.code == ErrorCode::kBadRequest ||
         error.code == ErrorCode::kForbidden;
}

bool is_missing_rule(const base::Error& error) {
  return error.code == ErrorCode::kForbidden && error.message.find(kMissingRule) != std::string::npos;
}

// NewDryRunUnsupportedErr of apiserver/pkg/admission/plugin/webhook/errors.
bool cannot_dry_run(const base::Error& error) {
  return error.code == ErrorCode::kBadRequest &&
         error.message.find("does not support dry run") != std::string::npos;
}

// NewInternalError of a webhook's error, of the same package.
bool is_webhook_failure(const base::Error& error) {
  return error.http_status >= 500 && error.message.find("failed calling webhook") != std::string::npos;
}

bool is_namespace_terminating(const base::Error& error) {
  return error.code == ErrorCode::kForbidden &&
         error.message.find("because it is being terminated") != std::string::npos;
}

}  // namespace gpupool::kube
