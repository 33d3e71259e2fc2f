// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gpupool::kubelet {

// Names that the kubelet's device plugin protocol fixes, all in its plugin directory.
constexpr const char* kProtocolVersion = "v1beta1";
constexpr const char* kKubeletSocket = "kubelet.sock";

// "gpupool-gpupool.dev_vgpu" for gpupool.dev/vgpu: our files in that directory are this with .sock or .lock.
inline std::string file_stem(const std::string& resource) {
  std::string stem = "gpupool-" + resource;
  for (char& c : stem) {
    if (c == '/') c = '_';
  }
  return stem;
}

}  // namespace gpupool::kubelet
