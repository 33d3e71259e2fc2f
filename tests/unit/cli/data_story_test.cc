// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "jobs/data_story.h"
#include "jobs/story.h"
#include "screen/bytes.h"
#include "tests/unit/cli/played_server.h"

namespace gpupool::jobs {
namespace {

constexpr char kSpec[] = R"("spec": {"pool": "p", "source": {"items": [{"path": "a"}, {"path": "b"}]},
  "results": [{"from": "/gpupool/work/out", "to": {"s3": {"bucket": "models"}}}]})";

api::GpuJob job_with(const std::string& status) {
  return *base::json::read<api::GpuJob>(R"({"metadata": {"name": "resnet", "namespace": "lab"}, )" +
                                        std::string(kSpec) + ", \"status\": " + status + "}");
}

api::GpuJob job_with_data() {
  return job_with(R"({"phase": "Succeeded",
    "source": {"attempt": 1, "state": "Fetched", "bytes": 1288490188, "seconds": 12, "items": [
      {"path": "data/train.csv", "files": 1, "bytes": 1288000000, "digest": "sha256:00112233445566778899aabb",
       "message": "rows 1000 in, 990 out, 10 dropped"},
      {"path": "code\u001b[2J", "files": 17, "bytes": 490188, "digest": "git:33636d0e1122334455667788"}]},
    "results": {"attempt": 1, "state": "Incomplete", "items": [
      {"path": "/gpupool/work/out", "state": "Incomplete", "to": "s3://models/resnet/1", "files": 3, "bytes": 2048,
       "message": "rank 0: the server does not answer"},
      {"path": "/gpupool/work/log", "state": "Skipped"}]}})");
}

TEST(DataStory, Screens) {
  for (const std::size_t columns : {80U, 200U}) {
    test::expect_screen(
        "describe-data-" + std::to_string(columns) + (columns == 200U ? "-colour" : ""),
        story_text(Story{.job = job_with_data()}, {}, test::terminal_with(columns, columns == 200U)));
  }
}

TEST(DataStory, BeforeAnythingIsKnown) {
  const auto job = job_with("{}");
  EXPECT_EQ(source_text(job, {}), "Source: not fetched yet, 2 items\n");
  EXPECT_EQ(results_text(job, {}), "Results: not saved yet, 1 place\n");
}

TEST(DataStory, NothingWithoutSourcesAndResults) {
  const auto job = *base::json::read<api::GpuJob>(R"({"metadata": {"name": "a"}, "spec": {}, "status": {}})");
  EXPECT_EQ(source_text(job, {}) + results_text(job, {}), "");
}

TEST(BytesText, HasThreeDigitsAtMostBeforeThePoint) {
  const std::pair<std::int64_t, const char*> texts[] = {
      {-1, "0 B"},           {1023, "1023 B"},    {1024, "1.0 KiB"},       {1536, "1.5 KiB"},
      {102399, "99.9 KiB"},  {102400, "100 KiB"}, {1023 << 10, "0.9 MiB"}, {1288490189, "1.2 GiB"},
      {INT64_MAX, "8.0 EiB"}};
  for (const auto& [bytes, text] : texts) EXPECT_EQ(screen::bytes_text(bytes), text) << bytes;
}

}  // namespace
}  // namespace gpupool::jobs
