// SPDX-License-Identifier: Apache-2.0
#include "probes/merged_toml.h"

#include <fnmatch.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "probes/toml_text.h"

namespace gpupool::probes {

base::Result<void> merge_toml(const HostRoot& root, const std::string& path, nlohmann::json& into) {
  const auto text = root.read(path);
  if (!text) {
    if (!root.exists(path)) return {};
    return base::fail(base::ErrorCode::kIo, path + " cannot be read");
  }
  const auto json = toml_as_json(*text);
  if (!json) return base::in_context(json.error(), path);
  auto parsed = nlohmann::json::parse(*json, nullptr, false);
  if (!parsed.is_object())
    return base::fail(base::ErrorCode::kParse, path + ": holds a number that JSON has not");
  into.update(parsed, true);
  return {};
}

std::vector<std::string> matching_files(const HostRoot& root, const std::string& directory,
                                        const std::string& pattern) {
  const std::filesystem::path whole = std::filesystem::path(directory) / pattern;
  const std::string folder = whole.parent_path().string();
  std::vector<std::string> files;
  for (const std::string& name : root.names(folder)) {
    if (::fnmatch(whole.filename().c_str(), name.c_str(), FNM_PERIOD) == 0)
      files.push_back(folder + "/" + name);
  }
  return files;
}

}  // namespace gpupool::probes
