#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "inventory/gpu_source.h"
#include "settings/settings.h"

namespace gpupool::health {

// The built-in action for an XID (NVIDIA's XID catalog), before the overrides of the settings.
settings::XidAction default_action(std::uint64_t xid);

struct State {
  bool healthy = true;
  bool until_reset = false;   // only a reloaded driver or a reset GPU ends it
  std::string reason = {};    // "Xid79", "Lost", "ProbeFailed", "ResetNeeded", "DriverGone"
  std::string detail = {};    // for people
  base::WallTime since = {};  // of the present state
  std::int64_t clean_probes = 0;
  base::WallTime last_trouble = {};
  // It was off the bus, or the driver asked for a reset: when it answers again, it was reset.
  bool seen_down = false;
  bool operator==(const State&) const = default;
};

// The health of all physical GPUs of the node: pure, told what happens and when. Slices have none of their
// own. Not thread-safe.
class Book {
 public:
  explicit Book(settings::Settings settings) : settings_(std::move(settings)) {}
  // A GPU that an XID put out until a reset waits for clean probes only, if the new settings say so.
  void use(settings::Settings settings);

  void xid(const inventory::XidEvent& event, base::WallTime now);
  void probe(const std::string& gpu, const inventory::Probe& probe, base::WallTime now);
  // The GPUs that the driver lists now. One that is missing is lost; after a driver's reload (`reloaded`)
  // troubles that last until a reset are over, and the clean probes still have to come.
  void listed(const std::vector<inventory::Gpu>& gpus, bool reloaded, base::WallTime now);
  void driver_gone(const std::string& why, base::WallTime now);

  const std::map<std::string, State>& states() const { return states_; }  // by GPU UUID
  std::map<std::string, std::string> unhealthy() const;                   // UUID -> reason and detail

  // For a file in the plugin's state directory, so that a restarted plugin does not take a sick GPU for well.
  // restore() ignores GPUs of another boot; kParse leaves everything as it was.
  std::string save(const std::string& boot_id) const;
  base::Result<void> restore(const std::string& text, const std::string& boot_id);

 private:
  struct Trouble {
    std::string reason;
    std::string detail;
    bool until_reset = false;
    bool is_down = false;
  };

  settings::XidAction action_of(std::uint64_t xid) const;
  static void mark(State& state, const Trouble& trouble, base::WallTime now);
  void count_clean(State& state, base::WallTime now) const;

  settings::Settings settings_;
  std::map<std::string, State> states_;
};

}  // namespace gpupool::health
