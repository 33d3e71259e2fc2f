// SPDX-License-Identifier: Apache-2.0
#include "allocation/limits_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/device-plugin/allocation/resources.h"

namespace gpupool::allocation {
namespace {

std::string content_for(const slices::Resource& resource, const std::vector<std::string>& ids) {
  const auto devices = devices_of(resource, ids);
  EXPECT_TRUE(devices.has_value());
  return devices ? limits_file(*devices).content : "";
}

// The checksum is what `python3 -c "import zlib..."` makes of the lines above it.
TEST(LimitsFile, IsTextWithAChecksum) {
  EXPECT_EQ(content_for(test::sliced(1, 10), {test::slice(0, 3), test::slice(0, 4)}),
            "gpupool-limits 1\n"
            "device 0 GPU-00000000-0000-0000-0000-000000000000 3274 20 3,4\n"
            "crc32 ea37292a\n");
}

TEST(LimitsFile, OtherSlicesAreAnotherFileThoughTheLimitsAreTheSame) {
  const slices::Resource resource = test::sliced(1, 10);
  const auto one = allocate(resource, {test::slice(0, 3)}, {}, {});
  const auto other = allocate(resource, {test::slice(0, 4)}, {}, {});
  ASSERT_TRUE(one && other);
  EXPECT_NE(one->files[0].name, other->files[0].name);
}

TEST(LimitsFile, TheNameIsMadeOfTheContent) {
  // SHA-256 of "abc": FIPS 180-2, B.1.
  EXPECT_EQ(fingerprint("abc"), "ba7816bf8f01cfea414140de5dae2223");
  EXPECT_EQ(named_by_content("x-", "abc"), (LimitsFile{"x-ba7816bf8f01cfea414140de5dae2223", "abc"}));
}

}  // namespace
}  // namespace gpupool::allocation
