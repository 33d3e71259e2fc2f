// SPDX-License-Identifier: Apache-2.0
// fake-cuda-bytes [FILE]: what each living process holds of the pretended GPUs, as JSON. FILE is the state
// file; else the one that the environment names.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tests/fake-cuda/state.h"

namespace {

using gpupool::fake_cuda::StateFile;

nlohmann::json device_json(StateFile& state, unsigned device) {
  nlohmann::json processes = nlohmann::json::array();
  for (const auto& process : state.processes(device)) {
    processes.push_back({{"pid", process.pid},
                         {"memory", process.bytes[0]},
                         {"contexts", process.bytes[1]},
                         {"managed", process.bytes[2]},
                         {"launches", process.launches},
                         {"kernelNs", process.kernel_ns}});
  }
  return {{"used", state.used(device)}, {"processes", processes}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : StateFile::default_path();
  StateFile state;
  nlohmann::json devices = nlohmann::json::object();
  if (state.open(path, false)) {
    const auto uuids = state.uuids();
    for (unsigned device = 0; device < uuids.size(); ++device)
      devices[uuids[device]] = device_json(state, device);
  } else if (errno != ENOENT) {  // none yet: nobody holds anything
    std::fprintf(stderr, "fake-cuda-bytes: %s: %s\n", path.c_str(), std::strerror(errno));  // NOLINT
    return 1;
  }
  std::cout << devices.dump(1) << '\n';
  return 0;
}
