// SPDX-License-Identifier: Apache-2.0
#include "planning/job/job_validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "api/v1alpha1/reasons.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using testing::HasSubstr;

std::string pod_with(const std::string& container_more, const std::string& spec_more = "",
                     const std::string& metadata = "{}") {
  return R"({"metadata":)" + metadata + R"(,"spec":{"containers":[{"name":"train","command":["x"])" +
         container_more + "}]" + spec_more + "}}";
}

struct InvalidCase {
  const char* name;
  std::string field;  // the field that the message must name
  std::function<void(api::GpuJob&)> spoil;
};

InvalidCase in_template(const char* name, const std::string& field, const std::string& text) {
  return {name, field, [text](api::GpuJob& job) { job.spec.pod_template.text = text; }};
}

std::vector<InvalidCase> invalid_cases() {
  return {
      {"UpperCaseName", "metadata.name", [](auto& job) { job.metadata.name = "Job"; }},
      {"NameBeginsWithDash", "metadata.name", [](auto& job) { job.metadata.name = "-job"; }},
      {"NameWithDot", "metadata.name", [](auto& job) { job.metadata.name = "a.b"; }},
      {"LongName", "metadata.name", [](auto& job) { job.metadata.name = std::string(46, 'a'); }},
      {"NoPool", "spec.pool", [](auto& job) { job.spec.pool = ""; }},
      {"NoGpus", "spec.gpus", [](auto& job) { job.spec.gpus = 0; }},
      {"NoGpusPerWorker", "spec.gpusPerWorker", [](auto& job) { job.spec.gpus_per_worker = 0; }},
      {"UnevenGpus", "multiple of spec.gpusPerWorker",
       [](auto& job) {
         job.spec.gpus = 5;
         job.spec.gpus_per_worker = 2;
       }},
      {"TooManyWorkers", "spec.gpus / spec.gpusPerWorker", [](auto& job) { job.spec.gpus = 1001; }},
      {"NodeTwice", "spec.nodes", [](auto& job) { job.spec.nodes = {"a", "a"}; }},
      {"NegativeBackoff", "spec.backoffLimit", [](auto& job) { job.spec.backoff_limit = -1; }},
      {"NoDeadline", "spec.activeDeadlineSeconds", [](auto& job) { job.spec.active_deadline_seconds = 0; }},
      {"NoStartTimeout", "spec.startTimeoutSeconds", [](auto& job) { job.spec.start_timeout_seconds = 0; }},
      {"NegativeTtl", "spec.ttlSecondsAfterFinished",
       [](auto& job) { job.spec.ttl_seconds_after_finished = -1; }},
      {"UnknownRendezvous", "spec.rendezvous", [](auto& job) { job.spec.rendezvous = "Port"; }},
      {"EmptySlice", "spec.slice", [](auto& job) { job.spec.slice.emplace(); }},
      {"SliceCountAndMemory", "spec.slice.count",
       [](auto& job) { job.spec.slice = api::JobSlice{"4Gi", {}, 1}; }},
      {"SliceCountAndCores", "spec.slice.count",
       [](auto& job) { job.spec.slice = api::JobSlice{"", 10, 1}; }},
      {"NoSlices", "spec.slice.count", [](auto& job) { job.spec.slice = api::JobSlice{"", {}, 0}; }},
      {"NoCores", "spec.slice.cores", [](auto& job) { job.spec.slice = api::JobSlice{"", 0, {}}; }},
      {"TooManyCores", "spec.slice.cores", [](auto& job) { job.spec.slice = api::JobSlice{"", 101, {}}; }},
      {"NoMemory", "spec.slice.memory", [](auto& job) { job.spec.slice = api::JobSlice{"0", {}, {}}; }},
      {"MemoryIsNoQuantity", "spec.slice.memory",
       [](auto& job) { job.spec.slice = api::JobSlice{"4GB", {}, {}}; }},
      {"SlicesOfSeveralGpus", "spec.gpusPerWorker",
       [](auto& job) {
         job.spec.slice = api::JobSlice{"", {}, 1};
         job.spec.gpus_per_worker = 2;
       }},
      {"NearAndNodes", "spec.near",
       [](auto& job) {
         job.spec.near = api::Near{{"rack"}};
         job.spec.nodes = {"a"};
       }},
      in_template("NoTemplate", "spec.template", ""),
      in_template("BadTemplate", "spec.template", R"({"spec":{"containers":3}})"),
      in_template("NoContainer", "containers", R"({"spec":{"containers":[]}})"),
      in_template("NoContainerName", "containers[0].name", R"({"spec":{"containers":[{"command":["x"]}]}})"),
      in_template("NoCommand", "containers[0].command", R"({"spec":{"containers":[{"name":"train"}]}})"),
      in_template("NodeName", "spec.nodeName", pod_with("", R"(,"nodeName":"a")")),
      in_template("OurLabel", "gpupool.dev/x", pod_with("", "", R"({"labels":{"gpupool.dev/x":"1"}})")),
      in_template("OurAnnotation", "gpupool.dev/x",
                  pod_with("", "", R"({"annotations":{"gpupool.dev/x":"1"}})")),
      in_template("OurToleration", "tolerations",
                  pod_with("", R"(,"tolerations":[{"key":"gpupool.dev/lease","operator":"Exists"}])")),
      in_template("TolerationOfAll", "tolerations",
                  pod_with("", R"(,"tolerations":[{"operator":"Exists"}])")),
      in_template(
          "OurNodeSelector", "nodeSelector",
          pod_with("", R"(,"nodeSelector":{"gpupool.dev.node-restriction.kubernetes.io/lease":"x"})")),
      in_template(
          "OurAffinity", "affinity",
          pod_with("", R"(,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
                       R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"gpupool.dev/x",)"
                       R"("operator":"Exists"}]}]}}})")),
      in_template("LivenessProbe", "livenessProbe", pod_with(R"(,"livenessProbe":{"exec":{}})")),
      in_template("Lifecycle", "lifecycle", pod_with(R"(,"lifecycle":{"preStop":{}})")),
      in_template("OurEnvironment", "GPUPOOL_RANK", pod_with(R"(,"env":[{"name":"GPUPOOL_RANK"}])")),
      in_template("TorchEnvironment", "PET_NNODES", pod_with(R"(,"env":[{"name":"PET_NNODES"}])")),
      in_template("RankEnvironment", "RANK", pod_with(R"(,"env":[{"name":"RANK"}])")),
      in_template("OurMount", "/gpupool",
                  pod_with(R"(,"volumeMounts":[{"name":"v","mountPath":"/gpupool/x"}])")),
      in_template("OurVolume", "gpupool-launcher",
                  pod_with("", R"(,"volumes":[{"name":"gpupool-launcher"}])")),
      in_template("SecretOfASource", "gpupool-secret-0",
                  pod_with(R"(,"volumeMounts":[{"name":"gpupool-secret-0","mountPath":"/x"}])")),
      in_template("OurWorkVolume", "gpupool-work", pod_with("", R"(,"volumes":[{"name":"gpupool-work"}])")),
      in_template("OurResultsContainer", "gpupool-results",
                  pod_with("", R"(,"initContainers":[{"name":"gpupool-results"}])")),
      in_template("OurSharedMemory", "gpupool-shm", pod_with("", R"(,"volumes":[{"name":"gpupool-shm"}])")),
      in_template("OurContainer", "gpupool-launcher",
                  pod_with("", R"(,"initContainers":[{"name":"gpupool-launcher"}])")),
      in_template("OtherGpuCount", "nvidia.com/gpu",
                  pod_with(R"(,"resources":{"limits":{"nvidia.com/gpu":2}})")),
  };
}

class InvalidJob : public testing::TestWithParam<std::size_t> {};

TEST_P(InvalidJob, IsRefusedAndTheFieldNamed) {
  const auto all = invalid_cases();
  auto job = test::make_job();
  ASSERT_FALSE(validate_job(job, nullptr).has_value());
  all.at(GetParam()).spoil(job);
  const auto problem = validate_job(job, nullptr);
  ASSERT_TRUE(problem.has_value());
  EXPECT_THAT(problem->message, HasSubstr(all.at(GetParam()).field));
}

INSTANTIATE_TEST_SUITE_P(Rules, InvalidJob, testing::Range<std::size_t>(0, invalid_cases().size()),
                         [](const auto& each) { return std::string(invalid_cases().at(each.param).name); });

TEST(Slice, NeedsASharingPool) {
  auto job = test::make_job();
  job.spec.slice = api::JobSlice{"4Gi", 30, {}};
  const auto shares = test::make_sharing_pool();
  const auto whole = test::make_pool();
  EXPECT_EQ(validate_job(job, &shares), std::nullopt);
  EXPECT_EQ(validate_job(job, nullptr), std::nullopt) << "the pool may yet come";
  EXPECT_EQ(validate_job(job, &whole)->reason, api::reason::kSliceInExclusivePool);
}

TEST(Slice, TheTemplateMayNotAskForIt) {
  auto job = test::make_job();
  const auto pool = test::make_sharing_pool();
  job.spec.pod_template.text = pod_with(R"(,"resources":{"limits":{"gpupool.dev/vgpu":1}})");
  EXPECT_THAT(validate_job(job, &pool)->message, HasSubstr("gpupool.dev/vgpu is set by gpupool"));
}

TEST(ValidJob, MayUseEverythingElse) {
  auto job = test::make_job(std::string(45, 'a'), 1000);
  job.spec.backoff_limit = 0;
  job.spec.ttl_seconds_after_finished = 0;
  job.spec.pod_template.text =
      pod_with(R"(,"env":[{"name":"MY_RANK"}],"resources":{"limits":{"nvidia.com/gpu":"1"}})",
               R"(,"tolerations":[{"key":"team","operator":"Exists"}],"nodeSelector":{"disk":"ssd"})");
  EXPECT_EQ(validate_job(job, nullptr), std::nullopt);
}

}  // namespace
}  // namespace gpupool::planning
