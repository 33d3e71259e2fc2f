// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"

namespace gpupool::bench::fair {

// Steps per second of each kind of job on one kind of GPU, from gavel's simulation_throughputs.json.
class Throughputs {
 public:
  // text: the file's. device: "v100".
  static base::Result<Throughputs> parse(const std::string& text, const std::string& device);

  // Of a job alone on its GPUs. Of more GPUs than were measured: that of the most that were. Nothing if the
  // type is not known or cannot run on the device.
  std::optional<double> steps_per_second(const std::string& type, std::int64_t gpus) const;

 private:
  std::map<std::string, std::map<std::int64_t, double>> by_type_;
};

}  // namespace gpupool::bench::fair
