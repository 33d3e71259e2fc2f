// SPDX-License-Identifier: Apache-2.0
#include "agent/enforcement_exposition.h"

#include <algorithm>

#include "agent/metric_family.h"
#include "base/join.h"
#include "enforcement/mebibytes.h"

namespace gpupool::agent {

namespace {

using enforcement::CountedContainer;
using enforcement::Finding;

struct UseFamilies {
  Family limit{"gpupool_enforced_limit_bytes", "Memory of the GPU that the container may use."};
  Family used{"gpupool_enforced_used_bytes",
              "Memory of the GPU that the limiter has counted in the container, by class."};
  Family peak{"gpupool_enforced_peak_bytes", "The most memory of the GPU that the container has used."};
  Family refusals{"gpupool_enforced_refusals_total", "Allocations that were refused for the limit.",
                  "counter"};
  Family waits{"gpupool_enforced_waits_total", "Allocations that waited for memory, and are done with it.",
               "counter"};

  std::string text() const {
    return limit.text() + used.text() + peak.text() + refusals.text() + waits.text();
  }
};

void add_device(const CountedContainer& one, std::size_t i, UseFamilies& families) {
  const auto& who = one.container;
  const auto& device = who.devices[i];
  const Family::Labels labels{
      {"namespace", who.ns}, {"pod", who.pod}, {"container", who.name}, {"gpu", device.uuid}};
  if (device.limit_mib > 0) {
    families.limit.add(labels, std::to_string(enforcement::bytes_of_mib(device.limit_mib)));
  }
  if (!one.use || i >= one.use->devices.size()) return;
  const auto& use = one.use->devices[i];
  for (std::size_t n = 0; n < use.bytes.size(); ++n) {
    families.used.add({{"namespace", who.ns},
                       {"pod", who.pod},
                       {"container", who.name},
                       {"gpu", device.uuid},
                       {"class", enforcement::kClassNames[n]}},
                      std::to_string(use.bytes[n]));
  }
  families.peak.add(labels, std::to_string(use.peak_bytes));
  families.refusals.add(labels, std::to_string(use.refusals));
  families.waits.add(labels, std::to_string(use.waits));
}

std::string expose_states(const std::vector<CountedContainer>& containers) {
  Family state("gpupool_enforcement_state", "Whether the limits of the container are enforced; always 1.");
  Family processes("gpupool_enforced_processes", "Processes of the container that use GPUs.");
  Family calls("gpupool_enforcement_unknown_calls_total",
               "Requests of the container for functions of the driver that the limiter does not know.",
               "counter");
  Family names("gpupool_enforcement_unknown_name", "Such a function; always 1.");
  for (const auto& one : containers) {
    const auto& who = one.container;
    const Family::Labels labels{{"namespace", who.ns}, {"pod", who.pod}, {"container", who.name}};
    const auto off = enforcement::why_off(one);
    state.add({{"namespace", who.ns},
               {"pod", who.pod},
               {"container", who.name},
               {"state", off.empty() ? "enforced" : "off"},
               {"reason", one.use ? base::join(one.use->reasons, ",") : off}},
              "1");
    if (!one.use) continue;
    processes.add(labels, std::to_string(one.use->processes));
    calls.add(labels, std::to_string(one.use->unknown_calls));
    for (const auto& name : one.use->unknown_names) {
      names.add({{"namespace", who.ns}, {"pod", who.pod}, {"container", who.name}, {"name", name}}, "1");
    }
  }
  return state.text() + processes.text() + calls.text() + names.text();
}

std::string expose_findings(const std::vector<Finding>& findings) {
  Family excess("gpupool_enforcement_excess_bytes",
                "Memory of the GPU in use beyond the limit, or beyond what the limiter has counted.");
  for (const auto& finding : findings) {
    excess.add({{"namespace", finding.ns},
                {"pod", finding.pod},
                {"gpu", finding.gpu},
                {"beyond", finding.kind == Finding::Kind::kOverLimit ? "limit" : "counted"}},
               std::to_string(finding.used_bytes - std::min(finding.used_bytes, finding.other_bytes)));
  }
  return excess.text();
}

}  // namespace

std::string expose_enforcement(const std::vector<CountedContainer>& containers,
                               const std::vector<Finding>& findings) {
  UseFamilies families;
  for (const auto& one : containers) {
    for (std::size_t i = 0; i < one.container.devices.size(); ++i) add_device(one, i, families);
  }
  return families.text() + expose_states(containers) + expose_findings(findings);
}

}  // namespace gpupool::agent
