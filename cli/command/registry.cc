// SPDX-License-Identifier: Apache-2.0
#include "command/registry.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gpupool::command {
namespace {

// Levenshtein's.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

void Registry::add(const std::string& group, std::unique_ptr<Command> command) {
  entries_.push_back({group, std::move(command)});
}

Command* Registry::find(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.command->manual().name == name) return entry.command.get();
  }
  return nullptr;
}

std::string Registry::suggestion(std::string_view name) const {
  std::string best;
  std::size_t least = 3;  // more is another word
  for (const Entry& entry : entries_) {
    const auto manual = entry.command->manual();
    const std::size_t far = distance(name.substr(0, 40), manual.name);
    if (!manual.hidden && far < least && far < manual.name.size()) {
      least = far;
      best = manual.name;
    }
  }
  return best;
}

}  // namespace gpupool::command
