// SPDX-License-Identifier: Apache-2.0
#include "nodes/picture.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "command/duration.h"
#include "screen/plain_text.h"
#include "screen/table.h"

namespace gpupool::nodes {
namespace {

using screen::Cell;
using screen::Colour;

constexpr std::int64_t kBarCells = 10;
// The plugin reports once a minute at least.
constexpr std::chrono::minutes kStale{2};
constexpr std::int64_t kHot = 85;
constexpr std::string_view kVendor = "NVIDIA-";  // says nothing

bool is_sick(const SeenGpu& gpu) { return gpu.health != "Healthy"; }

// "[AAAAB.....]": which part of the GPU each pod has; letters in the order of the pods.
std::string bar(const SeenGpu& gpu) {
  const std::int64_t total = gpu.slices.total;
  std::string cells;
  if (is_sick(gpu)) {
    cells.assign(kBarCells, 'x');
  } else if (total <= 0) {
    cells.assign(kBarCells, ' ');  // not offered
  } else {
    std::int64_t before = 0;
    for (std::size_t i = 0; i < gpu.pods.size(); ++i) {
      const std::int64_t after = std::min(total, before + gpu.pods[i].slices);
      const char letter = i < 26 ? static_cast<char>('A' + static_cast<int>(i)) : '+';
      // Also the smallest part is seen.
      const std::int64_t end = std::max<std::int64_t>(
          (after * kBarCells + total - 1) / total,
          std::min<std::int64_t>(static_cast<std::int64_t>(cells.size()) + 1, kBarCells));
      while (static_cast<std::int64_t>(cells.size()) < end) cells += letter;
      before = after;
    }
    cells.resize(kBarCells, '.');
  }
  return "[" + cells + "]";
}

std::string pods_of(const SeenGpu& gpu) {
  if (is_sick(gpu)) return gpu.health + (gpu.reason.empty() ? "" : ": " + gpu.reason);
  std::string text;
  for (std::size_t i = 0; i < gpu.pods.size(); ++i) {
    if (!text.empty()) text += "  ";
    if (gpu.pods.size() > 1)
      text += std::string(1, i < 26 ? static_cast<char>('A' + static_cast<int>(i)) : '+') + " ";
    text += gpu.pods[i].ns + "/" + gpu.pods[i].name;
  }
  if (text.empty() && gpu.slices.total <= 0) return gpu.reason;
  return text;
}

std::string gib(std::int64_t mib) {
  char text[32];
  (void)std::snprintf(text, sizeof(text), "%.1f", static_cast<double>(mib) / 1024);
  return text;
}

std::string with_unit(const std::optional<std::int64_t>& value, const char* unit) {
  return value ? std::to_string(*value) + unit : "";
}

std::string memory_of(const SeenGpu& gpu) {
  if (gpu.memory_mib <= 0) return "";
  return (gpu.usage.memory_used_mib ? gib(*gpu.usage.memory_used_mib) : "?") + "/" + gib(gpu.memory_mib) +
         "G";
}

std::vector<Cell> cells_of(const SeenNode& node, const SeenGpu& gpu) {
  const Usage& usage = gpu.usage;
  const bool used = !gpu.pods.empty();
  const auto utilization = usage.utilization_percent;
  // A GPU that somebody has and that does nothing deserves a look.
  const Colour busy = used && utilization && *utilization < 10 ? Colour::kYellow : Colour::kNone;
  const Colour heat = usage.temperature_celsius.value_or(0) >= kHot ? Colour::kRed : Colour::kNone;
  const auto watts = usage.power_milliwatts
                         ? std::optional<std::int64_t>((*usage.power_milliwatts + 500) / 1000)
                         : std::nullopt;
  return {{node.metadata.name},
          {std::to_string(gpu.index)},
          {gpu.model.starts_with(kVendor) ? gpu.model.substr(kVendor.size()) : gpu.model},
          {bar(gpu), is_sick(gpu) ? Colour::kRed
                     : used       ? Colour::kGreen
                                  : Colour::kFaint},
          {with_unit(utilization, "%"), busy},
          {memory_of(gpu)},
          {with_unit(usage.temperature_celsius, "C"), heat},
          {with_unit(watts, "W")},
          {pods_of(gpu), is_sick(gpu) ? Colour::kRed : Colour::kNone}};
}

std::string counted(std::int64_t number, const char* word) {
  return std::to_string(number) + " " + word + (number == 1 ? "" : "s");
}

std::string summary(const std::string& title, const std::vector<SeenNode>& nodes) {
  std::int64_t gpus = 0;
  std::int64_t used = 0;
  std::int64_t sick = 0;
  std::int64_t slices = 0;
  std::int64_t free = 0;
  for (const SeenNode& node : nodes) {
    for (const SeenGpu& gpu : node.status.gpus) {
      ++gpus;
      if (!gpu.pods.empty()) ++used;
      if (is_sick(gpu)) ++sick;
      slices += gpu.slices.total;
      free += gpu.slices.free;
    }
  }
  std::string text = (title.empty() ? "" : title + ": ") +
                     counted(static_cast<std::int64_t>(nodes.size()), "node") + ", " + counted(gpus, "GPU") +
                     ", " + std::to_string(used) + " in use";
  if (sick > 0) text += ", " + std::to_string(sick) + " not healthy";
  if (slices > gpus) text += ", " + std::to_string(free) + " of " + std::to_string(slices) + " slices free";
  return screen::plain_text(text) + "\n";
}

// What the owner of a node should know.
std::string notes(const std::vector<SeenNode>& nodes, base::WallTime now, const screen::Terminal& terminal) {
  std::string all;
  for (const SeenNode& node : nodes) {
    std::string note = node.status.message;
    if (!node.status.last_report) {
      note = "its device plugin has not reported yet";
    } else if (now - *node.status.last_report > kStale) {
      const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - *node.status.last_report);
      note =
          "no report of its device plugin for " + command::age_text(age) + (note.empty() ? "" : "; " + note);
    }
    if (note.empty()) continue;
    all += screen::painted(screen::plain_text(node.metadata.name + ": " + note), Colour::kYellow, terminal) +
           "\n";
  }
  return all;
}

}  // namespace

std::string picture(const std::string& title, const std::vector<SeenNode>& nodes, base::WallTime now,
                    const screen::Terminal& terminal) {
  screen::Table table({{"NODE", 6},
                       {"GPU"},
                       {"MODEL", 5},
                       {"SLICES"},
                       {"UTIL"},
                       {"MEMORY"},
                       {"TEMP"},
                       {"POWER"},
                       {"PODS", 14}});
  for (const SeenNode& node : nodes) {
    for (const SeenGpu& gpu : node.status.gpus) table.add(cells_of(node, gpu));
  }
  return summary(title, nodes) + (table.empty() ? "" : table.text(terminal)) + notes(nodes, now, terminal);
}

}  // namespace gpupool::nodes
