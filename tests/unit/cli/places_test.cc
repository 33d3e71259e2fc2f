// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/places.h"
#include "results/saved_files.h"

namespace gpupool::results {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

api::GpuJob job_of(const std::string& results, const std::string& status) {
  return *base::json::read<api::GpuJob>(
      R"({"metadata": {"name": "resnet", "namespace": "lab"}, "spec": {"results": )" + results +
      "}, \"status\": " + status + "}");
}

constexpr char kOfRanks[] =
    R"#([{"from": "/gpupool/work/out", "ranks": [0, 2], "secret": "keys",
         "to": {"s3": {"bucket": "models", "prefix": "runs/$(namespace)/$(job)/$(attempt)/$(rank)/"}}},
        {"from": "/gpupool/work/log/all.txt", "to": {"volume": {"claimName": "disk", "path": "$(job)"}}}])#";
constexpr char kEnded[] =
    R"({"attempts": 3, "results": {"attempt": 1, "items": [{"state": "Complete"},
        {"state": "Incomplete", "message": "full"}]}})";

std::vector<std::string> places_as_text(const api::GpuJob& job, const Choice& choice) {
  const auto places = places_of(job, choice);
  if (!places) return {places.error().message};
  std::vector<std::string> all;
  all.reserve(places->size());
  for (const auto& place : *places) {
    all.push_back(place.directory + " " +
                  (place.to.s3 ? "s3 " + place.to.s3->prefix : "volume " + place.to.volume->path) + " " +
                  place.secret + (place.skipped ? " skipped" : "") +
                  (place.why.empty() ? "" : " " + place.why));
  }
  return all;
}

TEST(Places, AreThoseOfTheAttemptThatHasEnded) {
  EXPECT_THAT(places_as_text(job_of(kOfRanks, kEnded), {}),
              ElementsAre("out/rank-0 s3 runs/lab/resnet/1/0/ keys",
                          "out/rank-2 s3 runs/lab/resnet/1/2/ keys", "log/all.txt volume resnet  full"));
}

TEST(Places, CanBeChosen) {
  const auto job = job_of(kOfRanks, kEnded);
  EXPECT_THAT(places_as_text(job, {.from = "/gpupool/work/out/", .rank = 2, .attempt = 0}),
              ElementsAre("out/rank-2 s3 runs/lab/resnet/0/2/ keys"));
  EXPECT_THAT(places_as_text(job, {.from = "log/all.txt", .rank = {}, .attempt = 2}),
              ElementsAre("log/all.txt volume resnet "));
  EXPECT_THAT(places_as_text(job, {.from = "model", .rank = {}, .attempt = {}}),
              ElementsAre("job resnet does not save model; it saves out, log/all.txt"));
  EXPECT_THAT(places_as_text(job, {.from = "", .rank = 1, .attempt = {}}),
              ElementsAre("job resnet does not save results of rank 1; it saves out, log/all.txt"));
  EXPECT_THAT(places_as_text(job, {.from = "", .rank = {}, .attempt = 3}),
              ElementsAre("job resnet has no attempt 3: it has begun 3, and the first is 0"));
}

TEST(Places, WhileTheFirstAttemptRuns) {
  const auto job = job_of(kOfRanks, R"({"attempts": 1, "lease": {"state": "Running", "attempt": 0}})");
  EXPECT_THAT(places_as_text(job, {.from = "out", .rank = 0, .attempt = {}}),
              ElementsAre("out/rank-0 s3 runs/lab/resnet/0/0/ keys attempt 0 has not ended yet"));
}

TEST(Places, AJobThatSavesNothing) {
  EXPECT_THAT(places_as_text(job_of(kOfRanks, "{}"), {}),
              ElementsAre("job resnet has not run yet, so it has left nothing"));
  const auto none = *base::json::read<api::GpuJob>(R"({"metadata": {"name": "resnet"}, "spec": {}})");
  EXPECT_THAT(places_as_text(none, {}),
              ElementsAre("job resnet has no spec.results: it saves nothing (run --result)"));
}

TEST(Places, OfTheSameFilesTheBucketIsTaken) {
  constexpr char kTwice[] = R"([{"from": "/gpupool/work/out", "to": {"volume": {"claimName": "disk"}}},
    {"from": "/gpupool/work/out", "to": {"s3": {"bucket": "models"}}},
    {"from": "/gpupool/work/out", "to": {"s3": {"bucket": "models", "prefix": "second"}}}])";
  EXPECT_THAT(places_as_text(job_of(kTwice, R"({"attempts": 1})"), {}), ElementsAre("out s3  "));
}

TEST(Places, WhatWasNotWantedIsSkipped) {
  const auto job =
      job_of(kOfRanks, R"({"attempts": 1, "results": {"attempt": 0, "items": [{"state": "Skipped"}]}})");
  EXPECT_THAT(places_as_text(job, {.from = "out", .rank = 0, .attempt = {}}),
              ElementsAre("out/rank-0 s3 runs/lab/resnet/0/0/ keys skipped"));
}

TEST(SavedFiles, WhatWouldLeaveTheDirectoryIsRefused) {
  const std::string hash(64, 'a');
  const auto with = [&](const std::string& path, const std::string& sha256) {
    return R"({"complete": true, "files": [{"path": ")" + path + R"(", "bytes": 1, "sha256": ")" + sha256 +
           "\"}]}";
  };
  EXPECT_TRUE(parse_saved_files(with("a/b", hash)));
  for (const char* path : {"../x", "/etc/x", "a/../../x", "", "a//b"})
    EXPECT_FALSE(parse_saved_files(with(path, hash))) << path;
  EXPECT_FALSE(parse_saved_files(with("a", "")));
  EXPECT_FALSE(parse_saved_files(with("a", std::string(64, 'g'))));
  EXPECT_FALSE(parse_saved_files(R"({"files": []})"));
  EXPECT_THAT(parse_saved_files("<html>").error().message, HasSubstr("manifest.json is not one of gpupool"));
}

}  // namespace
}  // namespace gpupool::results
