#pragma once

#include <string>
#include <tl/expected.hpp>

#include "inventory/gpu.h"
#include "inventory/nvml_library.h"

namespace gpupool::inventory {

// One GPU as the driver describes it, without its links. What this GPU or this version of NVML does not offer
// keeps its default; the error is that of a GPU that does not answer.
tl::expected<Gpu, nvml::Return> read_gpu(const NvmlFunctions& nvml, nvml::Device device,
                                         const std::string& sysfs);

// A product name as the value of a label: what Kubernetes does not allow there, and spaces, become "-". Pure.
std::string model_label(const std::string& product);

}  // namespace gpupool::inventory
