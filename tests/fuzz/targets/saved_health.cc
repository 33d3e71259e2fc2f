// SPDX-License-Identifier: Apache-2.0
#include "health/saved_health.h"

#include "health/health_tracker.h"
#include "nvidia/xid_catalogue.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace health = gpupool::health;

// The boot, a line, then the file.
void fuzz_saved_health(std::string_view input) {
  const auto boot = gpupool::fuzz::take_line(input);
  const std::string text(input);
  const auto errors = gpupool::nvidia::xid_catalogue();
  health::HealthTracker tracker{gpupool::settings::Settings{}, errors};
  const auto restored = tracker.restore(text, boot);
  const auto states = health::read_health(text, boot);
  require(restored.has_value() == states.has_value(), "both readers agree");
  if (!states) {
    gpupool::fuzz::require_explained(states.error());
    require(tracker.states().empty(), "what cannot be read changes nothing");
    return;
  }
  const auto again = health::read_health(health::write_health(*states, boot), boot);
  require(again.has_value(), "what is written can be read");
  require(health::write_health(*again, boot) == health::write_health(*states, boot), "parse(print(x)) == x");
}
