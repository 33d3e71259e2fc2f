// SPDX-License-Identifier: Apache-2.0
#include "agent/probes.h"

#include <algorithm>

namespace gpupool::agent {

namespace {

constexpr auto kHanging = std::chrono::seconds(60);

}  // namespace

ProbeAnswer alive(const Snapshot& snapshot, base::SteadyTime started, base::SteadyTime now) {
  const auto last = std::max(started, snapshot.taken);
  if (now - last < kHanging) return {true, "ok\n"};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - last).count();
  return {false,
          "the plugin has hung for " + std::to_string(seconds) + " s; the GPU driver may not answer\n"};
}

ProbeAnswer ready(const Snapshot& snapshot, const std::vector<PluginSet::Entry>& plugins) {
  ProbeAnswer answer;
  const auto lacks = [&](const std::string& what) {
    answer.good = false;
    answer.text += what + "\n";
  };
  if (snapshot.taken == base::SteadyTime{}) lacks("starting");
  if (!snapshot.driver_problem.empty()) lacks("no GPU driver: " + snapshot.driver_problem);
  if (!snapshot.settings_problem.empty()) lacks(snapshot.settings_problem);
  if (!snapshot.limiter_problem.empty()) lacks(snapshot.limiter_problem);
  using Phase = kubelet::ResourcePlugin::Phase;
  for (const auto& [resource, status] : plugins) {
    if (status.phase == Phase::kRegistered) continue;
    if (status.phase == Phase::kOtherPlugin) {
      answer.text += status.detail + "\n";
    } else {
      lacks(resource + " is not registered: " + (status.detail.empty() ? "starting" : status.detail));
    }
  }
  if (answer.good && plugins.empty()) lacks("there is no GPU to advertise");
  if (answer.good) answer.text = "ok\n" + answer.text;
  for (const auto& note : snapshot.notes) answer.text += "note: " + note + "\n";
  return answer;
}

}  // namespace gpupool::agent
