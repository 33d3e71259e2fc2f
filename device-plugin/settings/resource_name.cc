// SPDX-License-Identifier: Apache-2.0
#include "settings/resource_name.h"

#include <algorithm>

namespace gpupool::settings {
namespace {

constexpr std::size_t kMaxName = 63;
// 253 for a DNS subdomain, less the "requests." that a ResourceQuota puts before it.
constexpr std::size_t kMaxDomain = 244;

bool is_lower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_plain(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }

bool is_domain(const std::string& text) {
  if (text.empty() || text.size() > kMaxDomain) return false;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('.', begin), text.size());
    const std::string label = text.substr(begin, end - begin);
    if (label.empty() || !is_lower(label.front()) || !is_lower(label.back())) return false;
    if (!std::all_of(label.begin(), label.end(), [](char c) { return is_lower(c) || c == '-'; }))
      return false;
    begin = end + 1;
  }
  return true;
}

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= kMaxName && is_plain(text.front()) && is_plain(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_plain(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

base::Result<std::string> to_resource_name(const std::string& text) {
  const auto bad = [&](const std::string& what) {
    return base::fail(base::ErrorCode::kInvalidArgument, what + ", not '" + text + "'");
  };
  const auto slash = text.find('/');
  if (slash == std::string::npos || !is_domain(text.substr(0, slash)) || !is_name(text.substr(slash + 1))) {
    return bad("must be an extended resource name of the form domain/name, such as gpupool.dev/vgpu");
  }
  if (text.find("kubernetes.io/") != std::string::npos) {
    return bad("must be outside kubernetes.io, which is Kubernetes' own");
  }
  if (text.starts_with("requests.")) return bad("must not begin with 'requests.'");
  if (text.starts_with("nvidia.com/mig-")) {
    return bad("must not begin with nvidia.com/mig-, the names of MIG instances");
  }
  return text;
}

}  // namespace gpupool::settings
