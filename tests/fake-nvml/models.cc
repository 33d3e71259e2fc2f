// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-nvml/models.h"

#include <algorithm>
#include <array>

namespace gpupool::fake_nvml {

namespace {

constexpr std::array kModels{
    Model{"Tesla V100-SXM2-16GB", 16384, 7, 0, 5, 2, 0x1DB110DE, false, 80},
    Model{"Tesla T4", 15360, 7, 5, 6, 2, 0x1EB810DE, false, 40},
    Model{"NVIDIA A10", 23028, 8, 6, 7, 14, 0x223610DE, false, 72},
    Model{"NVIDIA A100-SXM4-40GB", 40960, 8, 0, 7, 14, 0x20B010DE, true, 108},
    Model{"NVIDIA A100-SXM4-80GB", 81920, 8, 0, 7, 14, 0x20B210DE, true, 108},
    Model{"NVIDIA L4", 23034, 8, 9, 8, 14, 0x27B810DE, false, 58},
    Model{"NVIDIA L40S", 46068, 8, 9, 8, 14, 0x26B910DE, false, 142},
    Model{"NVIDIA GeForce RTX 4090", 24564, 8, 9, 8, 5, 0x268410DE, false, 128},
    Model{"NVIDIA H100 80GB HBM3", 81559, 9, 0, 9, 14, 0x233010DE, true, 132},
    Model{"NVIDIA H200", 143771, 9, 0, 9, 14, 0x233510DE, true, 132},
    Model{"NVIDIA B200", 183359, 10, 0, 10, 14, 0x290110DE, true, 148},
};

}  // namespace

const Model* find_model(std::string_view name) {
  const auto* const at = std::ranges::find(kModels, name, &Model::name);
  return at != kModels.end() ? at : nullptr;
}

}  // namespace gpupool::fake_nvml
