// SPDX-License-Identifier: Apache-2.0
#include "api/v1alpha1/lease_value.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace gpupool::api {
namespace {

constexpr char kUid[] = "0f4a2c1e-7a51-4f0e-9a51-3a5d6a2d9b10";

RC_GTEST_PROP(LeaseValueProperty, IsReadBackAsItWasWritten, ()) {
  LeaseValue value;
  value.job_uid = *rc::gen::nonEmpty(rc::gen::container<std::string>(
      rc::gen::oneOf(rc::gen::inRange('a', 'z'), rc::gen::element('-', '.', '7'))));
  value.n = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000);
  RC_ASSERT(parse_lease_value(value.to_string()) == value);
}

RC_GTEST_PROP(LeaseValueProperty, WhatIsReadIsWrittenAlike, (const std::string& text)) {
  // A value has only one spelling, except for leading zeros.
  const auto value = parse_lease_value(text);
  if (value) RC_ASSERT(parse_lease_value(value->to_string()) == value);
}

TEST(LeaseValue, FitsIntoALabelValue) { EXPECT_EQ((LeaseValue{kUid, 999'999}.to_string().size()), 43U); }

class NotALeaseValue : public testing::TestWithParam<const char*> {};

TEST_P(NotALeaseValue, IsRefused) { EXPECT_FALSE(parse_lease_value(GetParam()).has_value()); }

INSTANTIATE_TEST_SUITE_P(Texts, NotALeaseValue,
                         testing::Values("", ".", "uid", "uid.", ".1", "uid.0", "uid.-1", "uid.1x", "uid. 1",
                                         "uid.+1", "uid.99999999999999999999"));

}  // namespace
}  // namespace gpupool::api
