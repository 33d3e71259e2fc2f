// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "settings/load.h"
#include "settings/settings.h"

namespace gpupool::agent {

// The settings in force: the last good ones of the file. A bad file changes nothing but problem(). Not
// thread-safe.
class SettingsKeeper {
 public:
  SettingsKeeper(std::string path, settings::Given given);

  // Reads the file anew. Returns whether there are settings to try now.
  bool reload();
  // The settings that reload() read and that were neither taken nor refused yet.
  const std::optional<settings::Settings>& candidate() const { return candidate_; }
  void take();
  void refuse(const std::string& why);

  // None until there was a first good file.
  const std::optional<settings::Settings>& current() const { return current_; }
  // Why the present content of the file is not in force; empty: it is.
  const std::string& problem() const { return problem_; }

 private:
  const std::string path_;
  const settings::Given given_;
  std::optional<settings::Settings> candidate_;
  std::optional<settings::Settings> current_;
  std::string problem_;
};

}  // namespace gpupool::agent
