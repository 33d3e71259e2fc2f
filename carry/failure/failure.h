// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace gpupool::carry {

// What stands in the way of a transfer, as far as somebody can act on it.
enum class FailureKind {
  kDenied,       // the server refuses the credentials, or wants some
  kNotFound,     // the server has no such object, or nothing under the prefix
  kMismatch,     // other bytes than the spec says, or bytes that changed while they were read
  kTooLarge,     // more bytes than sizeLimit, or the disk is full
  kInvalid,      // a wrong spec, URL, archive or CSV file
  kUnavailable,  // the server does not answer as it should, and did not until the time-out
  kStopped,      // a stop signal came
  kLocal,        // a fault of this machine: a file that cannot be written
};

// The message is for people. It names the item and the URL without user, password and query.
struct Failure {
  FailureKind kind = FailureKind::kInvalid;
  std::string message;
};

template <class T>
using Outcome = tl::expected<T, Failure>;

inline tl::unexpected<Failure> failed(FailureKind kind, std::string message) {
  return tl::unexpected<Failure>(Failure{kind, std::move(message)});
}

}  // namespace gpupool::carry
