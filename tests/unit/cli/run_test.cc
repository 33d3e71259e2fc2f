// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "objects/yaml.h"
#include "submit/run.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/cli/played_server.h"

namespace gpupool {
namespace {

using test::run_command;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kJobsPath[] = "/apis/gpupool.dev/v1alpha1/namespaces/lab/gpujobs";

// Creates what it is asked to create.
test::PlayedServer creating_server() {
  return test::PlayedServer([](const net::HttpRequest& request) {
    if (request.method == "POST" && request.target.find("gpujobs") != std::string::npos) {
      return test::answer(201, R"({"metadata":{"name":"a","namespace":"lab","uid":"u1"},"spec":{}})");
    }
    return test::answer(
        200,
        R"({"metadata":{"name":"a","namespace":"lab","uid":"u1"},"spec":{},"status":{"phase":"Succeeded"}})");
  });
}

std::string file_with(const test::TemporaryFolder& folder, const std::string& name,
                      const std::string& content) {
  const std::string path = folder.path() + "/" + name;
  std::ofstream(path) << content;
  return path;
}

TEST(Run, ACommandIsOneWrite) {
  auto server = creating_server();
  const auto ran =
      run_command(submit::make_run(), "run a --pool p --gpus 2 --image i -e A=b=c -- echo -n hi", &server);
  EXPECT_EQ(ran.out, "gpujob.gpupool.dev/a created\n") << ran.err;
  EXPECT_THAT(server.calls(), ElementsAre(std::string("POST ") + kJobsPath));
  EXPECT_EQ(
      server.asked().front().body,
      R"({"apiVersion":"gpupool.dev/v1alpha1","kind":"GpuJob","metadata":{"name":"a","namespace":"lab"},)"
      R"("spec":{"pool":"p","gpus":2,"template":{"spec":{"containers":[{"name":"worker","image":"i",)"
      R"("command":["echo","-n","hi"],"env":[{"name":"A","value":"b=c"}]}]}}}})");
}

TEST(Run, AScriptGoesAlongAndTheJobBeginsAfterIt) {
  const test::TemporaryFolder folder;
  test::PlayedServer server = creating_server();
  const auto script = file_with(folder, "train.py", "print('hi')\n");
  const auto ran = run_command(submit::make_run(),
                               "run a --pool p --image i --wait " + script + " -- --epochs 3", &server);
  EXPECT_EQ(ran.code, 0) << ran.err;
  ASSERT_GE(server.asked().size(), 4U);
  EXPECT_THAT(server.calls(),
              ElementsAre(std::string("POST ") + kJobsPath, "POST /api/v1/namespaces/lab/configmaps",
                          std::string("PATCH ") + kJobsPath + "/a", std::string("GET ") + kJobsPath + "/a"));
  const auto& job = server.asked()[0].body;
  EXPECT_THAT(job, HasSubstr(R"("suspend":true)"));
  EXPECT_THAT(job, HasSubstr(R"("command":["python3","/gpupool-script/train.py","--epochs","3"])"));
  EXPECT_THAT(job, HasSubstr(R"("configMap":{"name":"a-script","defaultMode":365})"));
  EXPECT_EQ(
      server.asked()[1].body,
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a-script","namespace":"lab","ownerReferences":)"
      R"([{"apiVersion":"gpupool.dev/v1alpha1","kind":"GpuJob","name":"a","uid":"u1"}]},"immutable":true,)"
      R"("data":{"train.py":"print('hi')\n"}})");
  EXPECT_EQ(server.asked()[2].body, R"({"spec":{"suspend":false}})");
}

TEST(Run, AJobWhoseScriptIsRefusedIsTakenBack) {
  const test::TemporaryFolder folder;
  const auto script = file_with(folder, "x", "#!/bin/sh\n");
  test::PlayedServer server([](const net::HttpRequest& request) {
    if (request.target.find("configmaps") != std::string::npos)
      return test::refusal(409, "AlreadyExists", "a-script exists");
    return test::answer(201, R"({"metadata":{"name":"a","namespace":"lab","uid":"u1"},"spec":{}})");
  });
  const auto ran = run_command(submit::make_run(), "run a --pool p --image i " + script, &server);
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "Error from server (AlreadyExists): a-script exists\n");
  EXPECT_EQ(server.calls().back(), std::string("DELETE ") + kJobsPath + "/a");
  EXPECT_THAT(server.asked().back().body, HasSubstr("u1"));
}

TEST(Run, DryRunOfAClientCreatesNothingAndPrintsWhatWouldBe) {
  const test::TemporaryFolder folder;
  const auto script = file_with(folder, "t.sh", "echo yes\n");
  auto server = creating_server();
  const auto ran = run_command(
      submit::make_run(),
      "run a --pool p --slice-memory 4Gi --slice-cores 30 --deadline 2h --cpu 4 --memory 16Gi --image i "
      "--claim data:/data --label team=x --dry-run=client -o yaml " +
          script,
      &server);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(server.calls().empty());
  test::expect_screen("run-dry", ran.out);
}

TEST(Run, MistakesAreNamedBeforeAnythingIsCreated) {
  const test::TemporaryFolder folder;
  const auto large = file_with(folder, "large.py", std::string(901 << 10, 'x'));
  const auto binary = file_with(folder, "binary.py", std::string("a\xff") + "b");
  const auto silent = file_with(folder, "silent", "echo hi\n");
  const std::pair<std::string, std::string> lines[] = {
      {"run", "NAME is required"},
      {"run A --pool p --image i -- x", "\"A\" cannot be the name of a job"},
      {"run a --image i -- x", "--pool is missing"},
      {"run a --pool p -- x", "--image is missing"},
      {"run a --pool p --image i", "nothing to run"},
      {"run a --pool p --image i --gpus 0 -- x", "--gpus: \"0\" is no whole number from 1"},
      {"run a --pool p --image i --gpus 5 --gpus-per-worker 2 -- x",
       "--gpus 5 is no multiple of --gpus-per-worker 2"},
      {"run a --pool p --image i --slices 2 --slice-memory 4Gi -- x", "--slices cannot be given together"},
      {"run a --pool p --image i --slice-memory lots -- x", "--slice-memory: \"lots\" is no quantity"},
      {"run a --pool p --image i --memory 16Q -- x", "--memory: \"16Q\" is no quantity"},
      {"run a --pool p --image i -e A -- x", "--env: \"A\" is not NAME=VALUE"},
      {"run a --pool p --image i --claim data -- x", "--claim: \"data\" is not CLAIM:/DIRECTORY"},
      {"run a --pool p --image i --timeout 1h -- x", "--timeout needs --wait"},
      {"run a --pool p --image i --wait --dry-run=client -- x", "--wait cannot be used with --dry-run"},
      {"run a --pool p --image i --wait --follow -- x", "--wait and --follow exclude each other"},
      {"run a --pool p --image i --follow --dry-run=client -- x", "--follow cannot be used with --dry-run"},
      {"run a --pool p --image i --follow -o name -- x", "--follow cannot be used with --output"},
      {"run a --pool p --image i /nope.py", "/nope.py: No such file or directory"},
      {"run a --pool p --image i " + large, large + " has 901 KiB; a script may have 900"},
      {"run a --pool p --image i " + binary, binary + " is no text in UTF-8"},
      {"run a --pool p --image i " + silent, silent + " does not say what runs it"},
      {"run -f /nope.yaml", "/nope.yaml: No such file or directory"},
      {"run -f - --image x", "with -f the file says what runs"},
      {"run -f - -- x", "with -f the file says what runs"},
  };
  for (const auto& [line, message] : lines) {
    auto server = creating_server();
    const auto ran = run_command(
        submit::make_run(), line, &server,
        {.input = "apiVersion: gpupool.dev/v1alpha1\nkind: GpuJob\nmetadata: {name: a}\nspec: {}\n"});
    EXPECT_EQ(ran.code, 2) << line;
    EXPECT_THAT(ran.err, StartsWith(std::string("error: ") + message)) << line;
    EXPECT_TRUE(server.calls().empty()) << line;
  }
}

TEST(Run, AFileIsTakenWithWhatTheFlagsSay) {
  auto server = creating_server();
  const test::Place place{
      .input =
          "apiVersion: gpupool.dev/v1alpha1\nkind: GpuJob\nmetadata: {name: x}\n"
          "spec: {pool: p, gpus: 2, template: {spec: {containers: [{command: [\"1\", yes]}]}}}\n"};
  const auto ran = run_command(submit::make_run(), "run a -f - --gpus 4 --priority -1", &server, place);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(
      server.asked().front().body,
      R"({"apiVersion":"gpupool.dev/v1alpha1","kind":"GpuJob","metadata":{"name":"a","namespace":"lab"},"spec":)"
      R"({"pool":"p","gpus":4,"template":{"spec":{"containers":[{"command":["1",true]}]}},"priority":-1}})");
  for (const char* text :
       {"kind: Pod\n", "a: [", "[]", "", "kind: GpuJob\n---\nkind: GpuJob\n",
        "apiVersion: gpupool.dev/v1alpha1\nkind: GpuJob\nmetadata: {name: [x]}\nspec: {}\n",
        "apiVersion: gpupool.dev/v1alpha1\nkind: GpuJob\nmetadata: {name: x, namespace: other}\nspec: "
        "{}\n"}) {
    EXPECT_EQ(run_command(submit::make_run(), "run -f -", &server, {.input = text}).code, 2) << text;
  }
}

TEST(Yaml, IsReadAsKubernetesReadsIt) {
  const std::pair<const char*, const char*> texts[] = {
      {"a: 1\nb: \"1\"\nc: '1'\nd: 1.5\ne: 0x1\nf: 010\ng: ~\nh: yes\ni: 'yes'\nj: 1e3\nk: 1Gi\nl: -3\nm: "
       "2026-01-01\n",
       R"({"a":1,"b":"1","c":"1","d":1.5,"e":"0x1","f":8,"g":null,"h":true,"i":"yes","j":1000.0,"k":"1Gi","l":-3,)"
       R"("m":"2026-01-01"})"},
      {"a: |\n  x\n  y\nb: [1, {c: d}]\n", R"({"a":"x\ny\n","b":[1,{"c":"d"}]})"},
      {"a: &x {b: 1}\nc: *x\n", R"({"a":{"b":1},"c":{"b":1}})"},
  };
  for (const auto& [yaml, json] : texts) {
    const auto read = objects::json_of_yaml(yaml);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_THAT(*read, ElementsAre(json));
  }
  EXPECT_EQ(objects::json_of_yaml("--- \na: 1\n---\n---\nb: 2\n")->size(), 2U);
  EXPECT_FALSE(objects::json_of_yaml("a: b: c"));
}

TEST(Yaml, WhatIsWrittenIsReadAgain) {
  for (
      const char* json :
      {R"({"a":"1","b":"true","c":"no","d":"","e":"~","f":"1e3","g":"a: b","h":"#x","i":" x","j":"x ","k":"a\nb","l":"a\nb\n"})",
       R"({"a":[],"b":{},"c":[[1],[]],"d":null,"e":-1.5,"f":true,"g":"\u001b[2J","h":"猫","i":"-","j":"a\tb\n"})",
       R"({"on":"off","key with: colon":1,"a":[{"b":1,"c":[{"d":2}]}],"x":" lead\nx\n","y":"\n","z":"a\n\nb\n"})"}) {
    EXPECT_THAT(*objects::json_of_yaml(objects::yaml_of(json)), ElementsAre(json)) << objects::yaml_of(json);
  }
}

}  // namespace
}  // namespace gpupool
