// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "results/results_command.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/cli/bucket_stub.h"
#include "tests/unit/cli/played_server.h"

namespace gpupool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr char kOwnHead[] = R"("job":"resnet","namespace":"lab","attempt":0,"rank":0)";
const std::map<std::string, std::string> kFiles{{"deep/b", "bb"}, {"empty", ""}, {"model.pt", "weights"}};

// A job that has saved /gpupool/work/out to the bucket.
class ResultsCommand : public testing::Test {
 protected:
  std::string results_json() const {
    return R"#([{"from": "/gpupool/work/out", "secret": "keys",
                 "to": {"s3": {"bucket": "models", "prefix": "runs/$(job)", "endpoint": ")#" +
           bucket_.url() + R"("}}}])";
  }
  net::HttpResponse answer_to(const net::HttpRequest& request) const {
    if (request.target.find("/secrets/keys") != std::string::npos) {
      if (!may_read_secret_) return test::refusal(403, "Forbidden", "secrets keys is forbidden");
      return test::answer(
          200, R"({"data": {"AWS_ACCESS_KEY_ID": "bXlpZA==", "AWS_SECRET_ACCESS_KEY": "c2VjcmV0"}})");
    }
    return test::answer(200, R"({"metadata": {"name": "resnet", "namespace": "lab"}, "spec": {"results": )" +
                                 (results_.empty() ? results_json() : results_) + R"(}, "status": )" +
                                 status_ + "}");
  }
  test::Ran run(const std::string& flags = "") {
    test::PlayedServer server([this](const net::HttpRequest& request) { return answer_to(request); });
    auto ran =
        test::run_command(results::make_results(), "results resnet --to " + to() + " " + flags, &server);
    calls_ = server.calls();
    return ran;
  }
  std::string to() const { return folder_.path() + "/got"; }
  // Paths of the files that there are.
  std::vector<std::string> files() const {
    std::vector<std::string> paths;
    if (!std::filesystem::exists(to())) return paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(to()))
      if (entry.is_regular_file()) paths.push_back(std::filesystem::relative(entry.path(), to()).string());
    std::ranges::sort(paths);
    return paths;
  }
  std::string content(const std::string& path) const {
    std::ifstream file(to() + "/" + path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const test::TemporaryFolder folder_;
  test::BucketStub bucket_;
  std::string results_;  // empty: those of results_json()
  std::string status_ =
      R"({"attempts": 1, "results": {"attempt": 0, "state": "Complete", "items": [{"state": "Complete"}]}})";
  bool may_read_secret_ = true;
  std::vector<std::string> calls_;
};

TEST_F(ResultsCommand, FetchesWhatTheManifestNames) {
  bucket_.put_results("runs/resnet/", kOwnHead, kFiles);
  bucket_.put("runs/resnet/other", "of nobody");
  const auto ran = run();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "out: 3 files, 9 B in " + to() + "/out\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(files(), ElementsAre("out/deep/b", "out/empty", "out/model.pt"));
  EXPECT_EQ(content("out/model.pt"), "weights");
  EXPECT_EQ(bucket_.requests_with("Credential=myid/"), 4);
  EXPECT_THAT(calls_, ElementsAre("GET /apis/gpupool.dev/v1alpha1/namespaces/lab/gpujobs/resnet",
                                  "GET /api/v1/namespaces/lab/secrets/keys"));
}

TEST_F(ResultsCommand, ModesAreThoseOfTheUmask) {
  bucket_.put_results("runs/resnet/", kOwnHead, kFiles);
  const mode_t before = ::umask(027);
  EXPECT_EQ(run().code, 0);
  ::umask(before);
  const auto mode = [&](const std::string& path) {
    return static_cast<unsigned>(std::filesystem::status(to() + path).permissions());
  };
  EXPECT_EQ(mode("/out/deep/b"), 0640U);
  EXPECT_EQ(mode("/out/deep"), 0750U);
  EXPECT_EQ(mode("/out"), 0750U);
}

TEST_F(ResultsCommand, WhatIsThereIsKeptAndWhatIsWrongIsFetchedAgain) {
  bucket_.put_results("runs/resnet/", kOwnHead, kFiles);
  ASSERT_EQ(run().code, 0);
  std::ofstream(to() + "/out/model.pt") << "weighty";
  const auto ran = run();
  EXPECT_EQ(ran.out, "out: 3 files, 9 B in " + to() + "/out, 2 of them there already\n") << ran.err;
  EXPECT_EQ(content("out/model.pt"), "weights");
  EXPECT_THAT(bucket_.read(),
              ElementsAre("runs/resnet/deep/b", "runs/resnet/empty", "runs/resnet/manifest.json",
                          "runs/resnet/manifest.json", "runs/resnet/model.pt", "runs/resnet/model.pt"));
}

TEST_F(ResultsCommand, AnObjectWithOtherBytesIsNotTaken) {
  bucket_.put_results("runs/resnet/", kOwnHead, kFiles);
  bucket_.put("runs/resnet/model.pt", "weighty");
  const auto ran = run();
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("error: out: model.pt is not as it was when it was saved"));
  EXPECT_THAT(files(), Not(testing::Contains("out/model.pt")));
}

TEST_F(ResultsCommand, WithoutAManifestTheyAreIncomplete) {
  bucket_.put("runs/resnet/a", "early");
  status_ =
      R"({"attempts": 1, "results": {"attempt": 0, "items": [{"state": "Incomplete", "message": "rank 0: full"}]}})";
  const auto refused = run();
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(refused.err,
            "out of attempt 0 is not complete in s3://models/runs/resnet/: there is no manifest.json; the "
            "job says: rank 0: full\nWith --incomplete, what is there is fetched.\n");
  EXPECT_FALSE(std::filesystem::exists(to()));
  const auto ran = run("--incomplete");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("is not complete in s3://models/runs/resnet/"));
  EXPECT_EQ(ran.out, "out: 1 file, 5 B in " + to() + "/out\n");
  EXPECT_EQ(content("out/a"), "early");
}

TEST_F(ResultsCommand, AManifestOfAnotherAttemptDoesNotCount) {
  bucket_.put_results("runs/resnet/", kOwnHead, kFiles);
  status_ = R"({"attempts": 2, "results": {"attempt": 1, "items": [{"state": "Incomplete"}]}})";
  const auto ran = run();
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("its manifest.json is that of attempt 0, and attempt 1 is wanted"));
  EXPECT_THAT(files(), IsEmpty());
  EXPECT_EQ(run("--attempt 0").code, 0);
}

TEST_F(ResultsCommand, WhoMayNotReadTheSecretHasItsOwnCredentials) {
  bucket_.put_results("runs/resnet/", kOwnHead, kFiles);
  may_read_secret_ = false;
  const auto refused = run();
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("Error from server (Forbidden)"));
  EXPECT_THAT(refused.err, HasSubstr("set AWS_ACCESS_KEY_ID"));
  EXPECT_THAT(run("--env-credentials").err, HasSubstr("error: the variable AWS_ACCESS_KEY_ID is not set"));
  ::setenv("AWS_ACCESS_KEY_ID", "other", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
  const auto ran = run();
  const auto asked = calls_.size();
  const auto forced = run("--env-credentials");
  ::unsetenv("AWS_ACCESS_KEY_ID");
  ::unsetenv("AWS_SECRET_ACCESS_KEY");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("You may not read the Secret keys"));
  EXPECT_EQ(asked, 2U);
  EXPECT_EQ(forced.code, 0) << forced.err;
  EXPECT_EQ(calls_.size(), 1U);
  EXPECT_EQ(bucket_.requests_with("Credential=other/"), 5);
}

TEST_F(ResultsCommand, OfAVolumeItSaysWhereItIs) {
  results_ = R"#([{"from": "/gpupool/work/out",
                   "to": {"volume": {"claimName": "disk", "path": "$(job)/$(attempt)"}}}])#";
  const auto ran = run();
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "out is in no bucket, but in the volume of the PersistentVolumeClaim disk, at /resnet/0. From a "
            "pod that "
            "mounts the claim at /results:\n  kubectl cp -n lab POD:/results/resnet/0 " +
                to() + "/out\n");
}

TEST_F(ResultsCommand, ForPrograms) {
  bucket_.put_results("runs/resnet/", kOwnHead, {{"a", "1"}});
  const auto ran = run("-o yaml");
  EXPECT_EQ(ran.code, 0) << ran.err;
  std::string text = ran.out;
  for (auto at = text.find(to()); at != std::string::npos; at = text.find(to()))
    text.replace(at, to().size(), "TO");
  test::expect_screen("results", text);
}

}  // namespace
}  // namespace gpupool
