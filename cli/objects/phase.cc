// SPDX-License-Identifier: Apache-2.0
#include "objects/phase.h"

#include "api/v1alpha1/gpu_job.h"

namespace gpupool::objects {

namespace phase = api::phase;

const std::vector<std::string>& all_phases() {
  static const std::vector<std::string> kAll{phase::kQueued,    phase::kInvalid,    phase::kStarting,
                                             phase::kRunning,   phase::kRestarting, phase::kReleasing,
                                             phase::kSuspended, phase::kSucceeded,  phase::kFailed};
  return kAll;
}

screen::Colour colour_of_phase(std::string_view phase) {
  using screen::Colour;
  if (phase == phase::kRunning) return Colour::kGreen;
  if (phase == phase::kFailed || phase == phase::kInvalid) return Colour::kRed;
  if (phase == phase::kQueued || phase == phase::kSuspended) return Colour::kYellow;
  if (phase == phase::kSucceeded) return Colour::kFaint;
  return phase.empty() ? Colour::kNone : Colour::kCyan;
}

}  // namespace gpupool::objects
