// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace gpupool::faults {

enum class Fault {
  kRefused,         // the request was not sent
  kReset,           // the server carried out the request; the answer was lost
  kStall,           // the same, after seconds of silence
  kSlow,            // a correct answer, late; a stream byte by byte
  kCut,             // the connection ended within the answer; the transport reports it
  kTruncated,       // the answer is cut short; the transport reports nothing
  kExpired,         // 410 Expired
  kGone,            // 410 Gone
  kConflict,        // 409 for a write that was not carried out
  kExists,          // 409 AlreadyExists for a create that was carried out: a proxy sent it twice
  kThrottled,       // 429 with Retry-After
  kThrottledBare,   // 429 without Retry-After
  kInternal,        // 500 InternalError
  kInternalBare,    // 500 without reason or body
  kUnavailable,     // 503
  kServerTimeout,   // 504 of the API server, for a request that was carried out
  kGatewayTimeout,  // 504 of a proxy, for a request that was carried out
  kUnauthorized,    // 401: the token has expired
  kStaleList,       // an older state of a list
  kClosed,          // the server ends a watch
  kLate,            // an event and all after it are delayed
  kDuplicate,       // an event is delivered twice
  kExpiredEvent,    // ERROR 410 Expired within a watch
  kGoneEvent,       // ERROR 410 Gone within a watch
  kHugeLine,        // 20 MB without a line break
  kBrokenLine,      // a line that is no JSON
  kCutLine,         // the watch ends within a line, without an error
};

// The kinds of calls and lines that a fault applies to; a set of bits.
using Places = std::uint8_t;
constexpr Places kGet = 1, kList = 2, kCreate = 4, kChange = 8, kWatch = 16, kLine = 32;

struct FaultKind {
  Fault fault;
  std::string_view name;
  Places places;
};

std::span<const FaultKind> fault_kinds();

}  // namespace gpupool::faults
