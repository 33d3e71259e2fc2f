// SPDX-License-Identifier: Apache-2.0
#include "enforcement/process_owner.h"

#include <algorithm>

#include "base/read_file.h"

namespace gpupool::enforcement {
namespace {

constexpr std::size_t kLongestUid = 64;

bool is_uid(std::string_view text) {
  return !text.empty() && text.size() <= kLongestUid && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-';
  });
}

// Of one folder's name: "pod1234-abcd", "kubepods-burstable-pod1234_abcd.slice".
std::string uid_of_folder(std::string_view folder) {
  constexpr std::string_view kSlice = ".slice";
  if (folder.starts_with("kubepods-") && folder.ends_with(kSlice)) {
    folder.remove_suffix(kSlice.size());
    const auto at = folder.rfind("-pod");
    if (at == std::string_view::npos) return {};
    folder.remove_prefix(at + 1);
  }
  if (!folder.starts_with("pod")) return {};
  std::string uid(folder.substr(3));
  std::replace(uid.begin(), uid.end(), '_', '-');
  return is_uid(uid) ? uid : std::string();
}

// The first pod on the way down: a container can make cgroups below its own, and none above.
std::string uid_of_path(std::string_view path) {
  // "/../../pod1234-abcd/...": from a container with a cgroup namespace of its own, the folders above are not
  // to be seen.
  bool below_kubepods = path.starts_with("/../");
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    const std::string_view folder = path.substr(0, end);
    if (below_kubepods || folder.starts_with("kubepods-")) {
      if (std::string uid = uid_of_folder(folder); !uid.empty()) return uid;
    }
    below_kubepods = below_kubepods || folder.starts_with("kubepods");
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return {};
}

}  // namespace

std::string pod_of_cgroup(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    // "ID:controllers:/path"
    const auto colon = line.find(':');
    const auto second = colon == std::string_view::npos ? colon : line.find(':', colon + 1);
    if (second != std::string_view::npos) {
      if (std::string uid = uid_of_path(line.substr(second + 1)); !uid.empty()) return uid;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

std::string pod_of_process(std::int64_t pid, const std::string& proc) {
  const auto text = base::read_file(proc + "/" + std::to_string(pid) + "/cgroup", base::kMiB);
  return text ? pod_of_cgroup(*text) : std::string();
}

}  // namespace gpupool::enforcement
