// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/checkpoint_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using testing::HasSubstr;

std::variant<std::monostate, CheckpointReport, ReportProblem> read_report(const std::string& text) {
  WorkerResult result;
  result.report = text;
  result.reported_at = "1970-01-01T00:01:40.500Z";
  return checkpoint_report(result);
}

std::string report_problem(const std::string& text) {
  const auto report = read_report(text);
  const auto* problem = std::get_if<ReportProblem>(&report);
  return problem == nullptr ? "taken" : problem->text;
}

TEST(CheckpointReport, IsAStepAndAPath) {
  const auto report =
      std::get<CheckpointReport>(read_report(R"({"step":1200,"path":"step-1200","loss":[0.5]})"));
  EXPECT_EQ(report.step, 1200);
  EXPECT_EQ(report.path, "step-1200");
  EXPECT_EQ(report.at, base::WallTime(std::chrono::milliseconds(100'500)));
}

TEST(CheckpointReport, IsNothingWithoutAFile) {
  EXPECT_TRUE(std::holds_alternative<std::monostate>(checkpoint_report(WorkerResult())));
}

TEST(CheckpointReport, NeedsOnlyItsStep) {
  EXPECT_EQ(std::get<CheckpointReport>(read_report(R"({"step":0})")),
            (CheckpointReport{0, "", base::WallTime(std::chrono::milliseconds(100'500))}));
  EXPECT_EQ(std::get<CheckpointReport>(read_report(R"({"step":9007199254740992})")).step, kMaxReportedStep);
  EXPECT_EQ(std::get<CheckpointReport>(read_report(R"( {"step": 12.0, "path": null} )")).step, 12);
  EXPECT_EQ(std::get<CheckpointReport>(read_report(R"({"step":1,"step":2})")).step, 2)
      << "as other readers do";
  EXPECT_EQ(std::get<CheckpointReport>(read_report(R"({"step":1,"path":")" + std::string(256, 'x') + R"("})"))
                .path.size(),
            256U);
  EXPECT_EQ(
      std::get<CheckpointReport>(read_report("{\"step\":1,\"path\":\"\xc3\xa9/\xf0\x9f\x98\x80\"}")).path,
      "\xc3\xa9/\xf0\x9f\x98\x80");
}

TEST(CheckpointReport, HasNoTimeIfTheLauncherSaysNone) {
  WorkerResult result;
  result.report = R"({"step":1})";
  for (const char* time : {"", "yesterday", "2026-13-45T00:00:00Z"}) {
    result.reported_at = time;
    EXPECT_EQ(std::get<CheckpointReport>(checkpoint_report(result)).at, std::nullopt) << time;
  }
}

struct BadReport {
  std::string report;
  std::string problem;  // a part of the text
};

TEST(CheckpointReport, OtherTextIsAProblemThatSaysWhy) {
  const std::string kNot = "report.json is not an object with step and path: ";
  const BadReport table[] = {
      {"", kNot + "it is empty"},
      {"   ", kNot},
      {"saved", kNot},
      {"1200", kNot},
      {"null", kNot},
      {R"([{"step":1}])", kNot},
      {R"("{\"step\":1}")", kNot},
      {R"({"step":1)", kNot},
      {R"({"step":1} {"step":2})", kNot},
      {"{\"step\":1,\"path\":\"\xff\"}", kNot},
      {R"({"step":1,"path":"\ud800"})", kNot},
      {std::string(300, '['), kNot},
      {std::string(300, '{'), kNot},
      {"{}", kNot + "step is missing"},
      {R"({"step":null})", kNot + "step is missing"},
      {R"({"Step":1})", kNot + "step is missing"},
      {R"({"step":"1"})", kNot + "JSON: step: expected a 64-bit integer"},
      {R"({"step":1.5})", kNot + "JSON: step: expected a 64-bit integer"},
      {R"({"step":1e400})", kNot},
      {R"({"step":NaN})", kNot},
      {R"({"step":9223372036854775808})", kNot + "JSON: step: expected a 64-bit integer"},
      {R"({"step":1,"path":7})", kNot + "JSON: path: expected a string"},
      {R"({"step":1,"path":{"a":"b"}})", kNot + "JSON: path: expected a string"},
      {R"({"step":-1})", "report.json has a step that is not a number from 0 to 2^53: -1"},
      {R"({"step":9007199254740993})", "has a step"},
      {R"({"step":1,"path":")" + std::string(257, 'x') + R"("})", "has a path of more than 256 bytes"},
      {R"({"step":1,"path":"a\nb"})", "has a path with a control character"},
      {R"({"step":1,"path":"\u0000"})", "has a path with a control character"},
      {R"({"step":1,"path":"\u001b[31m"})", "has a path with a control character"},
      {R"({"step":1,"path":"\u007f"})", "has a path with a control character"},
      {R"({"step":1,"path":"\u009b31m"})", "has a path with a control character"},
  };
  for (const auto& row : table) {
    const auto problem = report_problem(row.report);
    EXPECT_THAT(problem, HasSubstr(row.problem)) << row.report;
    EXPECT_LE(problem.size(), 200U) << row.report;
    EXPECT_EQ(problem.find('\n'), std::string::npos) << row.report;
  }
}

TEST(CheckpointReport, TellsWhyTheLauncherCouldNotReadIt) {
  WorkerResult result;
  const auto problem = [&](const std::string& why) {
    result.report_error = why;
    return std::get<ReportProblem>(checkpoint_report(result)).text;
  };
  EXPECT_EQ(problem("is a link"), "report.json cannot be used: it is a link");
  // A program can write the termination message itself.
  EXPECT_EQ(problem(std::string(5000, 'x')), "report.json cannot be used");
  EXPECT_EQ(problem("is\x1b[2J a link"), "report.json cannot be used");
  result.report = R"({"step":1})";
  EXPECT_EQ(problem("is a link"), "report.json cannot be used: it is a link");
}

}  // namespace
}  // namespace gpupool::planning
