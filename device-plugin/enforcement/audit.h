// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace gpupool::enforcement {

// What the containers of one pod may use of one GPU, and say that they use.
struct Share {
  std::string ns;
  std::string pod;
  std::string pod_uid;  // empty: unknown
  std::string gpu;      // UUID
  std::uint64_t limit_bytes = 0;
  std::optional<std::uint64_t>
      counted_bytes;  // by the limiter in all of them; absent: some region cannot be read
  std::uint64_t tolerance_bytes = 0;
  bool end = false;  // what the owner of the node wants done about an excess
};

// What the driver says of one GPU.
struct DriverFigures {
  struct Process {
    std::string pod_uid;                 // empty: of no pod
    std::optional<std::uint64_t> bytes;  // absent: the driver does not tell
  };
  std::optional<std::uint64_t> used_bytes;  // by everybody; absent: unknown
  std::vector<Process> processes;           // those that can be seen
};

// Something that does not fit.
struct Finding {
  enum class Kind {
    kOverLimit,  // a pod uses more than its slices have
    kUncounted   // a pod keeps to its limit, but uses memory that the limiter has not counted
  };
  Kind kind = Kind::kOverLimit;
  std::string
      ns;  // names and UID are empty where several pods use the GPU and the driver does not tell them apart
  std::string pod;
  std::string pod_uid;
  std::string gpu;
  std::uint64_t used_bytes = 0;   // the most since it was first seen
  std::uint64_t other_bytes = 0;  // the limit, or what was counted
  base::WallTime since{};         // when it was first seen
  bool end = false;               // never where the driver does not tell which process uses what
  bool operator==(const Finding&) const = default;
};

// Compares shares with the driver's figures, again and again. What does not fit in two rounds, one after the
// other, by more than the tolerance is a finding, until it fits again. The limiter and the driver are not
// asked at the same moment, so one round proves nothing. A GPU without figures in a round keeps its findings.
// Does no I/O; not thread-safe.
class Auditor {
 public:
  // All findings as of now, in order of GPU, kind and pod. figures: by UUID of the GPU.
  std::vector<Finding> round(const std::vector<Share>& shares,
                             const std::map<std::string, DriverFigures>& figures, base::WallTime now);

 private:
  struct Suspicion {
    Finding finding;
    int rounds = 0;
  };
  std::map<std::string, Suspicion> suspicions_;
};

}  // namespace gpupool::enforcement
