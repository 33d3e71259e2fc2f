// SPDX-License-Identifier: Apache-2.0
#include "reporting/failure_reason.h"

#include "api/v1alpha1/reasons.h"
#include "api/v1alpha1/transfer_report.h"

namespace gpupool::carry {

const char* reason_of(FailureKind kind) {
  namespace reason = api::reason;
  switch (kind) {
    case FailureKind::kDenied:
      return reason::kSourceDenied;
    case FailureKind::kNotFound:
      return reason::kSourceNotFound;
    case FailureKind::kMismatch:
      return reason::kSourceMismatch;
    case FailureKind::kTooLarge:
      return reason::kSourceTooLarge;
    case FailureKind::kInvalid:
      return reason::kSourceInvalid;
    case FailureKind::kStopped:
      return api::kTransferStopped;
    case FailureKind::kUnavailable:
    case FailureKind::kLocal:
      break;
  }
  return reason::kSourceUnavailable;
}

}  // namespace gpupool::carry
