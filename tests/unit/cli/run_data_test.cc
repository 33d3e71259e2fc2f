// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <mutex>

#include "git/pkt_line.h"
#include "submit/run.h"
#include "submit/source_url.h"
#include "tests/support/scripted_server.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/cli/played_server.h"

namespace gpupool {
namespace {

using test::run_command;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kCommit(40, 'a');
const std::string kOther(40, 'b');
const std::string kTagObject(40, 'c');

test::PlayedServer silent_server() {
  return test::PlayedServer([](const net::HttpRequest&) { return test::answer(500, ""); });
}

TEST(RunData, AllKindsOfSourcesAndResults) {
  const test::TemporaryFolder folder;
  const std::string script = folder.path() + "/t.py";
  std::ofstream(script) << "print()\n";
  auto server = silent_server();
  const auto ran = run_command(
      submit::make_run(),
      "run a --pool p --image i --source data/a.csv=https://h/a.csv?x=1#sha256=" + std::string(64, 'A') +
          " --source set.tar=http://h/set.tgz --unpack set.tar/ --source one=s3://bucket/a/b "
          "--source all/=s3://bucket/a/ --source code=git+https://h/r.git//sub/dir@" +
          kCommit +
          " --source-secret keys --source-secret code=git --result out/=s3://models/$(job) "
          "--result log=pvc://disk/$(job)/$(attempt) --result-secret keys --sync 30 "
          "--s3-endpoint https://s3.h --s3-region eu --dry-run=client -o yaml " +
          script,
      &server);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_TRUE(server.calls().empty());
  test::expect_screen("run-data", ran.out);
}

TEST(RunData, MistakesAreNamedWithoutPasswords) {
  const std::string git = "--source a=git+https://h/r";
  const std::pair<std::string, std::string> lines[] = {
      {"--source https://h/x?a=b", "--source: what is given is not PATH=URL"},
      {"--source a", "--source: what is given is not PATH=URL"},
      {"--source ../a=https://h/x", "--source ../a: is no path below /gpupool/work"},
      {"--source a=ftp://h/x", "--source a: the URL must begin with https://, s3:// or git+https://"},
      {"--source a=https://h/x#md5=1", "--source a: after # there must be sha256="},
      {"--source a=https://h/x#sha256=12", "--source a: after # there must be sha256="},
      {"--source a=https://me:pw@h/x", "--source a: "},
      {"--source a=s3://bucket", "--source a: name an object"},
      {"--source a=s3://B/x", "--source a: "},
      {"--source a=s3://bucket/x/#sha256=" + std::string(64, '0'), "--source a: sha256 is for one object"},
      {"--source a=https://h/x --source a/=https://h/y", "--source a is given twice"},
      {git, "--source a: add @BRANCH, @TAG or @COMMIT"},
      {"--source a=git+https://me:pw@h/r@main", "--source a: the URL of a git repository has a user"},
      {git + "//../x@main", "--source a: the subdirectory is no path"},
      {"--unpack b --source a=https://h/x", "--unpack b: there is no --source b=URL"},
      {git + "@" + kCommit + " --unpack a", "--unpack a: only a file"},
      {"--source-secret x", "--source-secret needs --source"},
      {"--source a=https://h/x --source-secret b=x", "--source-secret b=x: there is no --source b=URL"},
      {"--source a=https://h/x --source-secret x --source-secret y", "--source-secret y: x is already"},
      {"--source a=https://h/x --source-secret a=", "--source-secret: \"a=\" is not NAME or PATH=NAME"},
      {"--source a=https://h/x --s3-region eu", "--s3-endpoint and --s3-region need a --source"},
      {"--source a=s3://bucket/x --s3-endpoint nowhere", "--s3-endpoint: "},
      {"--result a=https://h", "--result a: the URL must begin with s3:// or pvc://"},
      {"--result a=pvc://", "--result a: name a claim"},
      {"--result a=pvc://c/../x", "--result a: what is after the claim is no path"},
      {"--result a=pvc://c --result-secret x", "--result-secret needs a --result of s3://"},
      {"--sync 30", "--sync needs --result"},
      {"--sync 5 --result a=pvc://c", "--sync: \"5\" is no whole number from 10"},
  };
  for (const auto& [flags, message] : lines) {
    auto server = silent_server();
    const auto ran = run_command(submit::make_run(), "run a --pool p --image i " + flags + " -- x", &server);
    EXPECT_EQ(ran.code, 2) << flags;
    EXPECT_THAT(ran.err, StartsWith("error: " + message)) << flags;
    EXPECT_THAT(ran.err, Not(HasSubstr("pw"))) << flags;
  }
}

TEST(RunData, WithAFileTheFlagsAreRefused) {
  for (const char* flags : {"--source a=https://h/x", "--result a=pvc://c"}) {
    auto server = silent_server();
    const auto ran = run_command(
        submit::make_run(), std::string("run -f - ") + flags, &server,
        {.input = "apiVersion: gpupool.dev/v1alpha1\nkind: GpuJob\nmetadata: {name: a}\nspec: {}\n"});
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, StartsWith("error: with -f the file says what runs"));
  }
}

TEST(SourceUrl, TheReferenceIsBehindTheLastAt) {
  const auto item = submit::parse_source("c=git+https://h:8443/g/r@x.git//a/b/@feature/y");
  ASSERT_TRUE(item);
  EXPECT_EQ(item->git->url, "https://h:8443/g/r@x.git");
  EXPECT_EQ(item->git->subdirectory, "a/b");
  EXPECT_EQ(item->git->commit, "feature/y");
}

// A repository `r` with these lines in answer to ls-refs.
class GitStub {
 public:
  explicit GitStub(std::vector<std::string> lines, bool needs_password = false)
      : lines_(std::move(lines)),
        needs_password_(needs_password),
        server_([this](test::Peer& peer) { serve(peer); }) {}
  std::string source() const { return "--source code=git+" + server_.url() + "/r"; }
  std::string asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  void serve(test::Peer& peer) {
    for (auto request = peer.read_request(); !request.empty(); request = peer.read_request()) {
      std::string body;
      const bool refs = request.starts_with("GET /r/info/refs?service=git-upload-pack ");
      if (needs_password_ && request.find("Authorization: Basic bWU6cHc=") == std::string::npos) {
        peer.write("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
        continue;
      }
      if (refs) {
        for (const char* line : {"version 2\n", "ls-refs\n", "fetch=shallow\n"})
          body += carry::pkt_line(line);
      } else {
        const std::lock_guard lock(mutex_);
        asked_ = request;
        for (const auto& line : lines_) body += carry::pkt_line(line + "\n");
      }
      body += "0000";
      const std::string type = refs ? "advertisement" : "result";
      peer.write(test::ok(body, "Content-Type: application/x-git-upload-pack-" + type + "\r\n"));
    }
  }

  const std::vector<std::string> lines_;
  const bool needs_password_;
  mutable std::mutex mutex_;
  std::string asked_;
  test::ScriptedServer server_;
};

test::Ran run_with(const GitStub& git, const std::string& reference) {
  auto server = silent_server();
  auto ran = run_command(
      submit::make_run(),
      "run a --pool p --image i --dry-run=client -o json " + git.source() + "@" + reference + " -- x",
      &server);
  EXPECT_TRUE(server.calls().empty());
  return ran;
}

TEST(GitReference, ABranchBecomesItsCommit) {
  const GitStub git({kOther + " refs/heads/main2", kCommit + " refs/heads/main"});
  const auto ran = run_with(git, "main");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "code: main is " + kCommit + "\n");
  EXPECT_THAT(ran.out, HasSubstr("\"commit\": \"" + kCommit + "\""));
  EXPECT_THAT(git.asked(), StartsWith("POST /r/git-upload-pack "));
  EXPECT_THAT(git.asked(), HasSubstr("command=ls-refs\n"));
  EXPECT_THAT(git.asked(), HasSubstr("ref-prefix refs/heads/main\n"));
  EXPECT_THAT(git.asked(), HasSubstr("ref-prefix refs/tags/main\n"));
}

TEST(GitReference, AnAnnotatedTagBecomesWhatItPointsTo) {
  const GitStub git({kTagObject + " refs/tags/v1 peeled:" + kCommit});
  EXPECT_EQ(run_with(git, "v1").err, "code: v1 is " + kCommit + "\n");
}

TEST(GitReference, FullNamesAreTakenAsTheyAre) {
  const GitStub git({kOther + " refs/heads/x", kCommit + " refs/tags/x"});
  EXPECT_EQ(run_with(git, "refs/heads/x").err, "code: refs/heads/x is " + kOther + "\n");
  const auto both = run_with(git, "x");
  EXPECT_EQ(both.code, 1);
  EXPECT_THAT(both.err, HasSubstr("has a branch and a tag x: write @refs/heads/x or @refs/tags/x"));
}

TEST(GitReference, WhatIsNotThereIsNamed) {
  const GitStub git({});
  const auto ran = run_with(git, "33636d0");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, StartsWith("error: --source code: http://127.0.0.1"));
  EXPECT_THAT(ran.err, HasSubstr("has no branch or tag 33636d0; a commit must have all its 40 digits"));
  EXPECT_EQ(ran.out, "");
}

TEST(GitReference, CredentialsComeFromTheEnvironment) {
  const GitStub git({kCommit + " refs/heads/main"}, true);
  const auto refused = run_with(git, "main");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("set GIT_USERNAME and GIT_PASSWORD, or write the commit"));
  ::setenv("GIT_USERNAME", "me", 1);
  ::setenv("GIT_PASSWORD", "pw", 1);
  const auto ran = run_with(git, "main");
  ::unsetenv("GIT_USERNAME");
  ::unsetenv("GIT_PASSWORD");
  EXPECT_EQ(ran.code, 0) << ran.err;
}

}  // namespace
}  // namespace gpupool
