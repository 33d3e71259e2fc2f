#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace gpupool::base {

// What went wrong, as far as a caller can act on it. API errors are mapped by Status.reason first and HTTP
// code second, because 409 is both AlreadyExists and Conflict.
enum class ErrorCode {
  kInvalidArgument,  // our caller's fault: a bad flag, a bad file, a bad value
  kParse,            // bytes that are not what they claim to be
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
  kInvalid,          // 422: the server refused the object's content
  kTooManyRequests,  // 429
  kServer,           // other 5xx
  kTooLargeVersion,  // "Too large resource version": this server is behind the one we asked before
};

struct Error {
  ErrorCode code = ErrorCode::kServer;
  std::string message;      // for people; names the object and the call
  int http_status = 0;      // 0 where there was no answer
  std::string reason = {};  // Status.reason as sent
  std::optional<std::chrono::milliseconds> retry_after = std::nullopt;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

// Passes an error on with where it happened.
inline tl::unexpected<Error> in_context(Error error, const std::string& context) {
  error.message = context + ": " + error.message;
  return tl::unexpected<Error>(std::move(error));
}

// "Conflict", "NotFound", ...: stable words for logs and metric labels.
const char* to_string(ErrorCode code);

}  // namespace gpupool::base
