#pragma once

#include <cstdint>

#include "settings/settings.h"

namespace gpupool::health {

struct XidEntry {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  settings::XidAction action = settings::XidAction::kUnhealthy;
  const char* meaning = "";  // NVIDIA's description in short; never empty
};

// What an XID means and does to a GPU; one that is not in the table makes it unhealthy until it proves
// itself.
const XidEntry& find_xid(std::uint64_t xid);

}  // namespace gpupool::health
