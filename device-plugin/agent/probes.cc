#include "agent/probes.h"

#include <algorithm>

namespace gpupool::agent {

namespace {

constexpr auto kHanging = std::chrono::seconds(60);

}  // namespace

Verdict alive(const Snapshot& snapshot, base::SteadyTime started, base::SteadyTime now) {
  const auto last = std::max(started, snapshot.taken);
  if (now - last < kHanging) return {true, "ok\n"};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - last).count();
  return {false,
          "the plugin has hung for " + std::to_string(seconds) + " s; the GPU driver may not answer\n"};
}

Verdict ready(const Snapshot& snapshot, const std::vector<PluginSet::Entry>& plugins) {
  Verdict verdict;
  const auto lacks = [&](const std::string& what) {
    verdict.good = false;
    verdict.text += what + "\n";
  };
  if (snapshot.taken == base::SteadyTime{}) lacks("starting");
  if (!snapshot.driver_problem.empty()) lacks("no GPU driver: " + snapshot.driver_problem);
  if (!snapshot.settings_problem.empty()) lacks(snapshot.settings_problem);
  using Phase = kubelet::ResourcePlugin::Phase;
  for (const auto& [resource, status] : plugins) {
    if (status.phase == Phase::kRegistered) continue;
    if (status.phase == Phase::kOtherPlugin) {
      verdict.text += status.detail + "\n";
    } else {
      lacks(resource + " is not registered: " + (status.detail.empty() ? "starting" : status.detail));
    }
  }
  if (verdict.good && plugins.empty()) lacks("there is no GPU to advertise");
  if (verdict.good) verdict.text = "ok\n" + verdict.text;
  for (const auto& note : snapshot.notes) verdict.text += "note: " + note + "\n";
  return verdict;
}

}  // namespace gpupool::agent
