// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "inventory/model_label.h"
#include "nvidia/nvml/mig_profile.h"
#include "nvidia/nvml/sysfs_address.h"

namespace gpupool::nvidia {
namespace {

TEST(ModelLabel, IsAlwaysALabelValue) {
  EXPECT_EQ(inventory::model_label("NVIDIA H100 80GB HBM3"), "NVIDIA-H100-80GB-HBM3");
  EXPECT_EQ(inventory::model_label("NVIDIA A100-SXM4-40GB"), "NVIDIA-A100-SXM4-40GB");
  EXPECT_EQ(inventory::model_label("Quadro RTX 6000/8000"), "Quadro-RTX-6000-8000");
  EXPECT_EQ(inventory::model_label(" (beta) "), "beta");
  EXPECT_EQ(inventory::model_label("\xC3\xA4"), "");
  EXPECT_EQ(inventory::model_label(""), "");
  EXPECT_EQ(inventory::model_label(std::string(62, 'x') + " y").size(),
            62U);  // 63 at most, and no "-" at the end
}

TEST(MigProfile, IsWhatTheNameEndsIn) {
  EXPECT_EQ(mig_profile_in_name("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), "1g.5gb");
  EXPECT_EQ(mig_profile_in_name("NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb"), "1c.3g.20gb");
  EXPECT_EQ(mig_profile_in_name("NVIDIA H100 80GB HBM3 MIG 1g.10gb+me"), "1g.10gb+me");
  EXPECT_EQ(mig_profile_in_name("NVIDIA B200 MIG 1g.23gb+me.all"), "1g.23gb+me.all");
  EXPECT_EQ(mig_profile_in_name("NVIDIA RTX PRO 6000 MIG 1g.24gb-me"), "1g.24gb-me");
  EXPECT_EQ(mig_profile_in_name("NVIDIA A100-SXM4-40GB"), "");
  EXPECT_EQ(mig_profile_in_name("MIG "), "");
  EXPECT_EQ(mig_profile_in_name("MIG 1g.5"), "");
  EXPECT_EQ(mig_profile_in_name("MIG 1g.5gb+"), "");
  EXPECT_EQ(mig_profile_in_name("MIG 1g.5gb me"), "");
  EXPECT_EQ(mig_profile_in_name("MIG g.5gb"), "");
}

// Sizes that real GPUs report, against NVIDIA's table of profiles.
TEST(MigProfile, OfASizeRoundsAsNvidiaDoes) {
  EXPECT_EQ(mig_profile_of_size(1, 1, 4864, 40960), "1g.5gb");
  EXPECT_EQ(mig_profile_of_size(2, 2, 9984, 40960), "2g.10gb");
  EXPECT_EQ(mig_profile_of_size(7, 7, 40192, 40960), "7g.40gb");
  EXPECT_EQ(mig_profile_of_size(3, 1, 20096, 40960), "1c.3g.20gb");
  EXPECT_EQ(mig_profile_of_size(1, 1, 9856, 81559), "1g.10gb");
  EXPECT_EQ(mig_profile_of_size(1, 1, 20096, 81559), "1g.20gb");
  EXPECT_EQ(mig_profile_of_size(3, 3, 40448, 81559), "3g.40gb");
  EXPECT_EQ(mig_profile_of_size(1, 1, 16384, 143771), "1g.18gb");
  EXPECT_EQ(mig_profile_of_size(3, 3, 69632, 143771), "3g.71gb");
  EXPECT_EQ(mig_profile_of_size(0, 0, 4864, 40960), "");
  EXPECT_EQ(mig_profile_of_size(1, 1, 4864, 0), "");
}

TEST(SysfsAddress, IsTheKernelsSpelling) {
  nvml::PciInfo pci{};
  pci.bus = 0x0A;
  pci.device = 0x1F;
  EXPECT_EQ(sysfs_address(pci), "0000:0a:1f.0");
  pci.domain = 0x10001;
  EXPECT_EQ(sysfs_address(pci), "10001:0a:1f.0");
}

}  // namespace
}  // namespace gpupool::nvidia
