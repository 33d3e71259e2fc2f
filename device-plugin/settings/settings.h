// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpupool::settings {

// What GetPreferredAllocation aims at. pack and spread keep the slices of one container on as few GPUs as
// possible and choose the fullest or the emptiest ones; distinct puts each slice on a GPU of its own.
enum class Policy { kPack, kSpread, kDistinct };

// A decimal factor in thousandths, so that all formulas stay in integers: 1.5 is 1500.
using Milli = std::int64_t;

struct Split {
  std::int64_t count = 10;      // deviceSplitCount
  Milli memory_scaling = 1000;  // deviceMemoryScaling
  Milli core_scaling = 1000;    // deviceCoreScaling
  bool operator==(const Split&) const = default;
};

// Who sees to it that a container keeps to the memory of its slices: nobody, or the limiter's library in it.
enum class Enforce { kNone, kLibrary };
// What is done about a container that uses more: it is reported, or its worker is ended too.
enum class OnExcess { kReport, kEnd };

// How the limits of a GPU's slices are enforced.
struct Enforcement {
  Enforce enforce = Enforce::kNone;
  std::int64_t context_mib = 0;          // charged for a context that cannot be measured
  std::int64_t memory_wait_seconds = 0;  // an allocation waits that long for memory of others; 0: not at all
  std::int64_t tolerance_mib = 64;       // of the audit
  OnExcess on_excess = OnExcess::kReport;
  bool operator==(const Enforcement&) const = default;
};

// The keys of Enforcement that an override sets.
struct EnforcementOverride {
  std::optional<Enforce> enforce;
  std::optional<std::int64_t> context_mib;
  std::optional<std::int64_t> memory_wait_seconds;
  std::optional<std::int64_t> tolerance_mib;
  std::optional<OnExcess> on_excess;
  bool operator==(const EnforcementOverride&) const = default;
};

// Which GPUs an override is for; absent parts match all.
struct Match {
  std::string node;
  std::string uuid;
  std::string model;
  std::optional<std::int64_t> index;
  bool operator==(const Match&) const = default;
};

struct Override {
  Match match;
  std::optional<std::int64_t> count;
  std::optional<Milli> memory_scaling;
  std::optional<Milli> core_scaling;
  EnforcementOverride enforcement = {};
  bool operator==(const Override&) const = default;
};

// What an error that the driver reports does to its GPU.
enum class ErrorAction { kIgnore, kUnhealthy, kUntilReset };

struct ErrorRule {
  std::uint64_t code = 0;  // the vendor's number, such as an XID
  ErrorAction action = ErrorAction::kUnhealthy;
  bool operator==(const ErrorRule&) const = default;
};

struct Passing {              // how a container gets to its GPUs; several at once are possible
  bool environment = true;    // NVIDIA_VISIBLE_DEVICES
  bool device_nodes = false;  // DeviceSpecs for /dev/nvidia*
  bool cdi_devices = false;   // CDI names in the response's field (Kubernetes 1.28 and later)
  bool cdi_annotations = false;
  bool operator==(const Passing&) const = default;
};

// Everything that the configuration file says; reloaded as a whole.
struct Settings {
  std::string resource_name;  // empty: gpupool.dev/vgpu, or nvidia.com/gpu where whole GPUs are advertised
  Policy policy = Policy::kPack;
  Split split;
  Enforcement enforcement;
  std::vector<Override> overrides;     // a later one wins
  bool mig = false;                    // advertise MIG instances
  std::vector<ErrorRule> error_rules;  // over the vendor's catalogue; the last one for a code wins
  std::int64_t recovery_probes = 3;    // clean ones in a row until a GPU counts as healthy again
  std::int64_t recovery_seconds = 10;  // and at least this long after its last trouble
  Passing passing;
  std::string cdi_prefix;         // empty: the vendor's
  std::string driver_root = "/";  // where device nodes lie on the node
  bool operator==(const Settings&) const = default;
};

}  // namespace gpupool::settings
