// SPDX-License-Identifier: Apache-2.0
#include "agent/settings_keeper.h"

#include <utility>

namespace gpupool::agent {

SettingsKeeper::SettingsKeeper(std::string path, settings::Given given)
    : path_(std::move(path)), given_(std::move(given)) {}

bool SettingsKeeper::reload() {
  auto read = settings::load(path_, given_);
  if (!read) {
    refuse(read.error().message);
    return false;
  }
  candidate_ = std::move(*read);
  return true;
}

void SettingsKeeper::take() {
  if (!candidate_) return;
  current_ = std::move(candidate_);
  candidate_.reset();
  problem_.clear();
}

void SettingsKeeper::refuse(const std::string& why) {
  candidate_.reset();
  problem_ = (current_ ? "the configuration is bad, the last good one stays in force: "
                       : "the configuration is bad, nothing is advertised: ") +
             why;
}

}  // namespace gpupool::agent
