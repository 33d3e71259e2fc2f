// SPDX-License-Identifier: Apache-2.0
#include "faults/fault.h"

#include <array>

namespace gpupool::faults {
namespace {

constexpr Places kReads = kGet | kList;
constexpr Places kWrites = kCreate | kChange;
constexpr Places kCalls = kReads | kWrites;

constexpr std::array kKinds{
    FaultKind{Fault::kRefused, "refused", kCalls | kWatch},
    FaultKind{Fault::kReset, "reset", kCalls | kLine},
    FaultKind{Fault::kStall, "stall", kCalls},
    FaultKind{Fault::kSlow, "slow", kCalls | kWatch},
    FaultKind{Fault::kCut, "cut", kCalls},
    FaultKind{Fault::kTruncated, "truncated", kCalls},
    FaultKind{Fault::kExpired, "expired", kList | kWatch},
    FaultKind{Fault::kGone, "gone", kList | kWatch},
    FaultKind{Fault::kConflict, "conflict", kChange},
    FaultKind{Fault::kExists, "exists", kCreate},
    FaultKind{Fault::kThrottled, "throttled", kCalls | kWatch},
    FaultKind{Fault::kThrottledBare, "throttled-bare", kCalls | kWatch},
    FaultKind{Fault::kInternal, "internal", kCalls | kWatch},
    FaultKind{Fault::kInternalBare, "internal-bare", kCalls | kWatch},
    FaultKind{Fault::kUnavailable, "unavailable", kCalls | kWatch},
    FaultKind{Fault::kServerTimeout, "server-timeout", kCalls},
    FaultKind{Fault::kGatewayTimeout, "gateway-timeout", kCalls},
    FaultKind{Fault::kUnauthorized, "unauthorized", kCalls | kWatch},
    FaultKind{Fault::kStaleList, "stale-list", kList},
    FaultKind{Fault::kClosed, "closed", kLine},
    FaultKind{Fault::kLate, "late", kLine},
    FaultKind{Fault::kDuplicate, "duplicate", kLine},
    FaultKind{Fault::kExpiredEvent, "expired-event", kLine},
    FaultKind{Fault::kGoneEvent, "gone-event", kLine},
    FaultKind{Fault::kHugeLine, "huge-line", kLine},
    FaultKind{Fault::kBrokenLine, "broken-line", kLine},
    FaultKind{Fault::kCutLine, "cut-line", kLine},
};

}  // namespace

std::span<const FaultKind> fault_kinds() { return kKinds; }

}  // namespace gpupool::faults
