// SPDX-License-Identifier: Apache-2.0
#include "runtime/events/series_book.h"

#include <gtest/gtest.h>

namespace gpupool::runtime {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Step = SeriesBook::Step;

Event event(const std::string& reason = "Started", const std::string& note = "note") {
  Event made;
  made.regarding.key = {"lab", "a"};
  made.reason = reason;
  made.note = note;
  return made;
}

class SeriesBookTest : public ::testing::Test {
 protected:
  void create(const Event& made) {
    ASSERT_EQ(book_.see(made, now_).step, Step::kCreate);
    book_.created(made, {"lab", "a." + made.reason}, now_);
  }
  SeriesBook book_;
  base::SteadyTime now_{std::chrono::hours(1)};
};

TEST_F(SeriesBookTest, OneCreateThenOnePatchThenOneEachHalfHour) {
  create(event());
  now_ += seconds(1);
  const auto second = book_.see(event(), now_);
  EXPECT_EQ(second.step, Step::kPatch);
  EXPECT_EQ(second.patch.count, 2);
  EXPECT_EQ(second.patch.event.name, "a.Started");
  int patches = 0;
  for (int minute = 0; minute < 61; ++minute) {
    now_ += minutes(1);
    if (book_.see(event(), now_).step == Step::kPatch) ++patches;
  }
  EXPECT_EQ(patches, 2);
}

TEST_F(SeriesBookTest, AnotherReasonNoteTypeOrObjectIsAnotherEvent) {
  create(event());
  create(event("Stopped"));
  create(event("Started", "other note"));
  auto warning = event();
  warning.type = EventType::kWarning;
  create(warning);
  auto other = event();
  other.regarding.uid = "recreated";
  create(other);
}

TEST_F(SeriesBookTest, TheObjectsVersionDoesNotMatter) {
  create(event());
  auto later = event();
  later.regarding.resource_version = "8";
  EXPECT_EQ(book_.see(later, now_).step, Step::kPatch);
}

TEST_F(SeriesBookTest, AQuietSeriesEndsWithItsFinalCount) {
  create(event());
  for (int i = 0; i < 4; ++i) book_.see(event(), now_);
  EXPECT_TRUE(book_.sweep(now_ + minutes(5)).empty());
  const auto patches = book_.sweep(now_ + minutes(6));
  ASSERT_EQ(patches.size(), 1U);
  EXPECT_EQ(patches[0].count, 5);
  EXPECT_TRUE(book_.empty());
  EXPECT_EQ(book_.see(event(), now_ + minutes(6)).step, Step::kCreate);
}

TEST_F(SeriesBookTest, ASingleEventEndsWithoutAPatch) {
  create(event());
  EXPECT_TRUE(book_.sweep(now_ + minutes(6)).empty());
  EXPECT_TRUE(book_.empty());
}

TEST_F(SeriesBookTest, AfterAQuietTimeItIsANewEventEvenBeforeTheSweep) {
  create(event());
  EXPECT_EQ(book_.see(event(), now_ + minutes(6)).step, Step::kCreate);
}

TEST_F(SeriesBookTest, AForgottenEventIsCreatedAgain) {
  create(event());
  book_.forget(event());
  EXPECT_EQ(book_.see(event(), now_).step, Step::kCreate);
}

TEST_F(SeriesBookTest, WhatWasSeenLongestAgoMakesRoom) {
  const auto name = [](std::size_t i) { return "R" + std::to_string(i); };
  for (std::size_t i = 0; i < SeriesBook::kMaxSeries; ++i) create(event(name(i)));
  book_.see(event("R0"), now_);
  book_.forget(event("R1"));
  for (std::size_t i = 0; i < 3; ++i) create(event(name(SeriesBook::kMaxSeries + i)));
  for (const auto* gone : {"R1", "R2", "R3"}) EXPECT_EQ(book_.see(event(gone), now_).step, Step::kCreate);
  EXPECT_EQ(book_.see(event("R0"), now_).step, Step::kNothing);
  EXPECT_EQ(book_.see(event("R4"), now_).step, Step::kPatch);
}

}  // namespace
}  // namespace gpupool::runtime
