// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace gpupool::base {

// What went wrong, as far as a caller can act on it. Errors of the API are mapped by Status.reason first and
// by HTTP code second, because 409 is both AlreadyExists and Conflict.
enum class ErrorCode {
  kInvalidArgument,  // the caller's mistake: a bad flag, file or value
  kParse,            // malformed bytes
  kIo,               // local file or process
  kTransport,        // no HTTP answer: refused, reset, TLS, truncated
  kTimeout,          // no HTTP answer in time, or the server gave up (504 Timeout)
  kCancelled,        // stop was requested
  kBadRequest,       // 400
  kUnauthorized,     // 401
  kForbidden,        // 403
  kNotFound,         // 404
  kAlreadyExists,    // 409 AlreadyExists
  kConflict,         // 409 Conflict: a stale resourceVersion or UID
  kExpired,          // 410 Expired or Gone
  kInvalid,          // 422: the server refused the content of the object
  kTooManyRequests,  // 429
  kServer,           // other 5xx
  kTooLargeVersion,  // "Too large resource version": this server is behind the one asked before
};

struct Error {
  ErrorCode code = ErrorCode::kServer;
  std::string message;      // for people; names the object and the call
  int http_status = 0;      // 0: there was no answer
  std::string reason = {};  // Status.reason as sent
  std::optional<std::chrono::milliseconds> retry_after = std::nullopt;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

// Returns the error with "context: " before its message.
inline tl::unexpected<Error> in_context(Error error, const std::string& context) {
  error.message = context + ": " + error.message;
  return tl::unexpected<Error>(std::move(error));
}

// Returns "Conflict", "NotFound" and so on: stable words for logs and metric labels.
const char* to_string(ErrorCode code);

}  // namespace gpupool::base
