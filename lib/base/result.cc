// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

namespace gpupool::base {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "InvalidArgument";
    case ErrorCode::kParse:
      return "Parse";
    case ErrorCode::kIo:
      return "Io";
    case ErrorCode::kTransport:
      return "Transport";
    case ErrorCode::kTimeout:
      return "Timeout";
    case ErrorCode::kCancelled:
      return "Cancelled";
    case ErrorCode::kBadRequest:
      return "BadRequest";
    case ErrorCode::kUnauthorized:
      return "Unauthorized";
    case ErrorCode::kForbidden:
      return "Forbidden";
    case ErrorCode::kNotFound:
      return "NotFound";
    case ErrorCode::kAlreadyExists:
      return "AlreadyExists";
    case ErrorCode::kConflict:
      return "Conflict";
    case ErrorCode::kExpired:
      return "Expired";
    case ErrorCode::kInvalid:
      return "Invalid";
    case ErrorCode::kTooManyRequests:
      return "TooManyRequests";
    case ErrorCode::kServer:
      return "Server";
    case ErrorCode::kTooLargeVersion:
      return "TooLargeVersion";
  }
  return "Unknown";
}

}  // namespace gpupool::base
