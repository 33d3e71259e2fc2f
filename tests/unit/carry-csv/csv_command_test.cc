// SPDX-License-Identifier: Apache-2.0
#include "csv/csv_command.h"

#include <gmock/gmock.h>

#include "tests/unit/carry-csv/csv_folder.h"

namespace gpupool::carry {
namespace {

using testing::HasSubstr;

TEST(CsvCommand, MakesTheFile) {
  const CsvFolder folder;
  folder.write("a.csv", "a,b\n1,2\n,4\n");
  const std::vector<std::string> arguments = {R"(--spec={"from":"a.csv","missing":{"default":"Drop"}})",
                                              "--root=" + folder.path(""), "--to=sub/b.csv"};
  testing::internal::CaptureStdout();
  EXPECT_EQ(csv_command(arguments, {}), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "rows 2 in, 1 out, 1 dropped (a missing: 1, line 3)\n");
  EXPECT_EQ(folder.read("sub/b.csv"), "a,b\n1,2\n");
}

TEST(CsvCommand, SaysWhatIsWrong) {
  const CsvFolder folder;
  const auto run = [&](const std::vector<std::string>& arguments, int wanted) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(csv_command(arguments, {}), wanted);
    return testing::internal::GetCapturedStderr();
  };
  const auto root = "--root=" + folder.path("");
  EXPECT_THAT(run({"--spec={}", root}, 2), HasSubstr("--to is missing"));
  EXPECT_THAT(run({"--spec={}", root, "--to=b", "--x=1"}, 2), HasSubstr("unknown argument --x=1"));
  EXPECT_THAT(run({"--spec", root, "--to=b"}, 2), HasSubstr("unknown argument --spec"));
  EXPECT_THAT(run({"--spec={", root, "--to=b"}, 2), HasSubstr("--spec: "));
  EXPECT_THAT(run({R"(--spec={"from":"a.csv"})", root, "--to=b"}, 1), HasSubstr("a.csv is not there"));
}

}  // namespace
}  // namespace gpupool::carry
