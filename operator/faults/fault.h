#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace gpupool::faults {

enum class Fault {
  kRefused,         // nothing was sent
  kReset,           // the server did it, and no answer came
  kStall,           // the same after seconds of silence
  kSlow,            // a good answer, late; a stream byte by byte
  kCut,             // the connection ended within the answer, and the transport noticed
  kTruncated,       // the answer is cut short, and nobody noticed
  kExpired,         // 410 Expired
  kGone,            // 410 Gone
  kConflict,        // 409 for a write that did not happen
  kExists,          // 409 AlreadyExists for a create that did: something on the way sent it twice
  kThrottled,       // 429 with Retry-After
  kThrottledBare,   // 429 without
  kInternal,        // 500 InternalError
  kInternalBare,    // 500 without reason or body
  kUnavailable,     // 503
  kServerTimeout,   // 504 as the API server says it, for something that did happen
  kGatewayTimeout,  // 504 as a proxy says it, for something that did happen
  kUnauthorized,    // 401: the token has expired
  kStaleList,       // a list as it was a moment ago
  kClosed,          // the server ends a watch
  kLate,            // an event and all after it come later
  kDuplicate,       // an event comes twice
  kExpiredEvent,    // ERROR 410 Expired within a watch
  kGoneEvent,       // ERROR 410 Gone within a watch
  kHugeLine,        // 20 MB without a line break
  kBrokenLine,      // a line that is no JSON
  kCutLine,         // the watch ends, as if well, within a line
};

// Where a fault makes sense; a set of bits.
using Places = std::uint8_t;
constexpr Places kGet = 1, kList = 2, kCreate = 4, kChange = 8, kWatch = 16, kLine = 32;

struct FaultKind {
  Fault fault;
  std::string_view name;
  Places places;
};

std::span<const FaultKind> fault_kinds();

}  // namespace gpupool::faults
