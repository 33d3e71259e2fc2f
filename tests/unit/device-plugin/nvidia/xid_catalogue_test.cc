// SPDX-License-Identifier: Apache-2.0
#include "nvidia/xid_catalogue.h"

#include <gmock/gmock.h>

#include <map>

namespace gpupool::nvidia {
namespace {

using settings::ErrorAction;

ErrorAction default_action(std::uint64_t xid) { return xid_catalogue().find(xid).action; }

// NVIDIA's catalog as read in 2026: the immediate action of every XID that it describes.
const std::map<std::string, std::vector<std::uint64_t>>& catalog() {
  static const std::map<std::string, std::vector<std::uint64_t>> rows{
      {"IGNORE",
       {14, 37, 38, 43, 44, 63, 66, 67, 92, 93, 106, 107, 108, 121, 137, 141, 152, 153, 154, 157, 160, 161}},
      {"RESTART_APP", {8,   11,  13,  25,  31,  32,  39,  40,  41,  60,  68,  69,  70,  71,  72,  75,
                       76,  77,  80,  82,  83,  84,  85,  86,  88,  89,  94,  96,  97,  98,  99,  100,
                       101, 102, 103, 104, 105, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 139}},
      {"RESET_GPU", {46, 62, 64, 95, 109, 110, 119, 120, 136, 140, 143, 155, 156, 158}},
      {"RESTART_BM", {79}},
      {"RESTART_VM", {151}},
      {"CHECK", {54, 78, 142, 159}},  // CHECK_MECHANICALS, UPDATE_SWFW, CONTACT_SUPPORT, CHECK_UVM
  };
  return rows;
}

ErrorAction expected_for(const std::string& bucket) {
  if (bucket == "IGNORE" || bucket == "RESTART_APP") return ErrorAction::kIgnore;
  return bucket == "CHECK" ? ErrorAction::kUnhealthy : ErrorAction::kUntilReset;
}

TEST(XidCatalogue, EveryXidDoesWhatTheCatalogSays) {
  for (const auto& [bucket, xids] : catalog()) {
    for (const auto xid : xids) {
      EXPECT_EQ(default_action(xid), expected_for(bucket)) << bucket << " " << xid;
    }
  }
}

// Those that the catalog leads through a workflow.
TEST(XidCatalogue, WorkflowsAreDecidedOneByOne) {
  EXPECT_EQ(default_action(45), ErrorAction::kIgnore);      // follows another XID
  EXPECT_EQ(default_action(48), ErrorAction::kUntilReset);  // double bit error
  EXPECT_EQ(default_action(74), ErrorAction::kUnhealthy);   // NVLink up to Hopper
  for (const std::uint64_t xid : {144U, 145U, 146U, 149U})
    EXPECT_EQ(default_action(xid), ErrorAction::kUnhealthy);
  for (const std::uint64_t xid : {147U, 148U}) EXPECT_EQ(default_action(xid), ErrorAction::kIgnore);
  EXPECT_EQ(default_action(150), ErrorAction::kUntilReset);
}

TEST(XidCatalogue, WhatNvidiasPluginGetsWrong) {
  EXPECT_EQ(default_action(94), ErrorAction::kIgnore);       // contained: only its process dies
  EXPECT_EQ(default_action(109), ErrorAction::kUntilReset);  // the catalog wants a reset
}

TEST(XidCatalogue, AnXidThatIsNotListedMakesUnhealthy) {
  for (const std::uint64_t xid :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{12}, std::uint64_t{42}, std::uint64_t{111},
        std::uint64_t{173}, std::uint64_t{999}, ~std::uint64_t{0}}) {
    EXPECT_EQ(default_action(xid), ErrorAction::kUnhealthy) << xid;
  }
}

TEST(XidCatalogue, HasWordsForEach) {
  EXPECT_STREQ(xid_catalogue().find(79).text, "the GPU has fallen off the bus");
  EXPECT_STREQ(xid_catalogue().find(100).text, "JPEG engine error");
  EXPECT_STREQ(xid_catalogue().find(999).text, "an error that is not in the catalog");
}

}  // namespace
}  // namespace gpupool::nvidia
