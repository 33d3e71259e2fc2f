// SPDX-License-Identifier: Apache-2.0
#include "planning/job/data_validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string problem_of(const std::string& source, const std::string& results = "") {
  api::GpuJobSpec spec = test::make_job("job", 4).spec;
  if (!source.empty()) spec.source = base::json::RawJson{source};
  if (!results.empty()) spec.results = base::json::RawJson{results};
  const auto problem = validate_data(spec);
  return problem ? problem->message : "";
}

std::string problem_of_item(const std::string& item) { return problem_of(R"({"items":[)" + item + "]}"); }

std::string problem_of_result(const std::string& more) {
  return problem_of("", R"([{"from":"/gpupool/work/out",)" + more + "}]");
}

TEST(DataValidation, TakesWhatIsRight) {
  EXPECT_EQ(problem_of(""), "");
  EXPECT_EQ(problem_of(R"({"sizeLimit":"20Gi","timeoutSeconds":60,"items":[
    {"path":"code","git":{"url":"https://git.example.com/a.git","commit":"33636d0e33636d0e33636d0e33636d0e33636d0e",
     "subdirectory":"src"},"secret":"reader"},
    {"path":"train.csv","http":{"url":"https://example.com/t.csv?x=1"},"readOnly":true},
    {"path":"imagenet","s3":{"endpoint":"http://minio:9000","bucket":"my.data-1","prefix":"imagenet/"},"secret":"s3"},
    {"path":"model.bin","s3":{"bucket":"models","key":"a/b"}},
    {"path":"script.py","configMap":{"name":"scripts","key":"train.py"}},
    {"path":"clean.csv","csv":{"from":"train.csv"}},
    {"path":"other.csv","csv":{"from":"imagenet/labels.csv"}}]})"),
            "");
  EXPECT_EQ(problem_of_result(R"("to":{"s3":{"bucket":"runs"}},"secret":"w","ranks":[3],"syncSeconds":10)"),
            "");
  EXPECT_EQ(problem_of_result(R"("to":{"volume":{"claimName":"models","path":"a/b"}})"), "");
  EXPECT_EQ(problem_of_result(R"x("to":{"s3":{"bucket":"runs","prefix":"$(rank)"}},"ranks":[0,1])x"), "");
}

struct BadItem {
  std::string item;
  std::string says;
};

TEST(DataValidation, NamesTheFieldOfAWrongItem) {
  const std::string url = R"("http":{"url":"https://x/y"})";
  const std::vector<BadItem> bad = {
      {R"({"path":"a"})", "needs exactly one of"},
      {R"({"path":"a",)" + url + R"(,"configMap":{"name":"c","key":"k"}})", "needs exactly one of"},
      {R"({"path":"/etc/passwd",)" + url + "}", "path must be relative"},
      {R"({"path":"a/../../b",)" + url + "}", "path must not have"},
      {R"({"path":"a//b",)" + url + "}", "path must not have"},
      {R"({"path":"a:b",)" + url + "}", "colon"},
      {R"({"path":"a","http":{"url":"ftp://x/y"}})", "http.url must begin with"},
      {R"({"path":"a","http":{"url":"file:///etc/passwd"}})", "http.url must begin with"},
      {R"({"path":"a","http":{"url":"https:///y"}})", "http.url has no host"},
      {R"({"path":"a","s3":{"bucket":"data"}})", "either key or prefix"},
      {R"({"path":"a","s3":{"bucket":"data","key":"a","prefix":"b"}})", "either key or prefix"},
      {R"({"path":"a","s3":{"bucket":"../data","key":"a"}})", "s3.bucket"},
      {R"({"path":"a","s3":{"bucket":"Data","key":"a"}})", "s3.bucket"},
      {R"({"path":"a","s3":{"bucket":"data?x","key":"a"}})", "s3.bucket"},
      {R"({"path":"a","s3":{"endpoint":"s3.example.com","bucket":"data","key":"a"}})", "s3.endpoint"},
      {R"({"path":"a","git":{"url":"https://x/y","commit":"main"}})", "git.commit"},
      {R"({"path":"a","git":{"url":"https://x/y","commit":"33636d0"}})", "git.commit"},
      {R"({"path":"a","configMap":{"name":"c"}})", "configMap.key"},
      {R"({"path":"a","configMap":{"name":"c","key":"k"},"secret":"s"})", "secret is for"},
      {R"({"path":"a",)" + url + R"(,"sha256":"abc"})", "sha256"},
      {R"({"path":"a","s3":{"bucket":"data","prefix":"a"},"unpack":true})", "unpack is for one file"},
      {R"({"path":"a",)" + url + R"(,"secret":"A_B"})", "secret must be"},
      {R"({"path":"a","csv":{"from":"b"}})", "csv.from must be the path of an item before"},
      {R"({"path":"a",)" + url + R"(},{"path":"a/b",)" + url + "}", "items[1]: path overlaps"},
      {R"({"path":"a",)" + url + R"(},{"path":"a",)" + url + "}", "items[1]: path overlaps"},
  };
  for (const auto& [item, says] : bad) {
    SCOPED_TRACE(item);
    EXPECT_THAT(problem_of_item(item), HasSubstr(says));
    EXPECT_THAT(problem_of_item(item), HasSubstr("spec.source.items["));
  }
}

TEST(DataValidation, NeverShowsAPassword) {
  const auto problem = problem_of_item(R"({"path":"a","http":{"url":"https://joe:geheim@x/y"}})");
  EXPECT_THAT(problem, HasSubstr("must not contain a user or a password"));
  EXPECT_THAT(problem, Not(HasSubstr("geheim")));
}

TEST(DataValidation, NamesTheFieldOfAWrongSource) {
  EXPECT_THAT(problem_of(R"({"items":[]})"), HasSubstr("spec.source.items"));
  EXPECT_THAT(problem_of(R"({"sizeLimit":"much","items":[]})"), HasSubstr("spec.source.sizeLimit"));
  EXPECT_THAT(problem_of(R"({"timeoutSeconds":0,"items":[]})"), HasSubstr("spec.source.timeoutSeconds"));
  EXPECT_THAT(problem_of(R"({"items":3})"), HasSubstr("spec.source"));
}

TEST(DataValidation, NamesTheFieldOfWrongResults) {
  const std::string to = R"("to":{"s3":{"bucket":"runs"}})";
  EXPECT_THAT(problem_of("", "[]"), HasSubstr("spec.results must have"));
  EXPECT_THAT(problem_of("", R"([{"from":"/etc",)" + to + "}]"), HasSubstr("spec.results[0]: from"));
  EXPECT_THAT(problem_of("", R"([{"from":"/gpupool/work/../x",)" + to + "}]"), HasSubstr("from must not"));
  EXPECT_THAT(problem_of_result(R"("to":{})"), HasSubstr("to needs either"));
  EXPECT_THAT(problem_of("", R"([{"from":"/gpupool/work/a","to":{"s3":{"bucket":"runs","prefix":"x"}}},)"
                             R"({"from":"/gpupool/work/b","to":{"s3":{"bucket":"runs","prefix":"x/"}}}])"),
              HasSubstr("to is the place of [0]"));
  EXPECT_THAT(problem_of_result(R"("to":{"volume":{"claimName":"m","path":"../x"}})"),
              HasSubstr("to.volume.path"));
  EXPECT_THAT(problem_of_result(to + R"(,"ranks":[4])"), HasSubstr("no rank 4"));
  EXPECT_THAT(problem_of_result(to + R"(,"ranks":[0,1])"), HasSubstr("must contain $(rank)"));
  EXPECT_THAT(problem_of_result(to + R"(,"syncSeconds":3)"), HasSubstr("syncSeconds"));
  EXPECT_THAT(problem_of_result(to + R"(,"timeoutSeconds":0)"), HasSubstr("timeoutSeconds"));
  EXPECT_THAT(problem_of_result(to + R"(,"when":"Never")"), HasSubstr("when"));
}

}  // namespace
}  // namespace gpupool::planning
