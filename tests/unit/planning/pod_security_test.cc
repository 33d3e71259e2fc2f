// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/pod_security.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/reasons.h"
#include "planning/job/job_validation.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using testing::HasSubstr;

constexpr char kPod[] = R"(,"containers":[{"name":"w","command":["x"]}])";

struct Field {
  const char* name;
  std::string named;  // a part of the message
  std::string spec;   // fields of the pod
  std::string annotations = "{}";
};

std::string container(const std::string& more) {
  return R"("containers":[{"name":"w","command":["x"],)" + more + "}]";
}

std::string pod(const std::string& more) { return more + kPod; }

std::vector<Field> refused() {
  const auto context = [](const std::string& text) { return container(R"("securityContext":)" + text); };
  return {
      {"HostNetwork", "spec.hostNetwork", pod(R"("hostNetwork":true)")},
      {"HostPid", "spec.hostPID", pod(R"("hostPID":true)")},
      {"HostIpc", "spec.hostIPC", pod(R"("hostIPC":true)")},
      {"HostPath", "hostPath of v", pod(R"("volumes":[{"name":"v","hostPath":{"path":"/"}}])")},
      {"HostPort", "containers[0].ports: hostPort",
       container(R"("ports":[{"containerPort":1,"hostPort":1}])")},
      {"Privileged", "containers[0].securityContext.privileged", context(R"({"privileged":true})")},
      {"Capability", "SYS_ADMIN", context(R"({"capabilities":{"add":["CHOWN","SYS_ADMIN"]}})")},
      {"AllCapabilities", "ALL", context(R"({"capabilities":{"add":["ALL"]}})")},
      {"SeLinuxType", "seLinuxOptions", context(R"({"seLinuxOptions":{"type":"spc_t"}})")},
      {"SeLinuxUser", "seLinuxOptions", context(R"({"seLinuxOptions":{"user":"system_u"}})")},
      {"ProcMount", "procMount", context(R"({"procMount":"Unmasked"})")},
      {"Seccomp", "seccompProfile", context(R"({"seccompProfile":{"type":"Unconfined"}})")},
      {"AppArmor", "appArmorProfile", context(R"({"appArmorProfile":{"type":"Unconfined"}})")},
      {"HostProcess", "hostProcess", context(R"({"windowsOptions":{"hostProcess":true}})")},
      {"PodSeccomp", "spec.securityContext.seccompProfile",
       pod(R"("securityContext":{"seccompProfile":{"type":"Unconfined"}})")},
      {"Sysctl", "kernel.msgmax",
       pod(R"("securityContext":{"sysctls":[{"name":"kernel.msgmax","value":"1"}]})")},
      {"PriorityClass", "priorityClassName", pod(R"("priorityClassName":"system-node-critical")")},
      {"Priority", "priorityClassName", pod(R"("priority":1000)")},
      {"ResourceClaims", "resourceClaims", pod(R"("resourceClaims":[{"name":"gpu"}])")},
      {"ProbeHost", "probes: host",
       container(R"("readinessProbe":{"httpGet":{"host":"127.0.0.1","port":1}})")},
      {"StartupHost", "probes: host",
       container(R"("startupProbe":{"tcpSocket":{"host":"10.0.0.1","port":1}})")},
      {"VisibleDevices", "NVIDIA_VISIBLE_DEVICES", container(R"("env":[{"name":"NVIDIA_VISIBLE_DEVICES"}])")},
      {"MemoryLimit", "CUDA_DEVICE_MEMORY_LIMIT",
       container(R"("env":[{"name":"CUDA_DEVICE_MEMORY_LIMIT_0"}])")},
      {"Preload", "volumeMounts: /etc/ld.so.preload",
       container(R"("volumeMounts":[{"name":"v","mountPath":"/etc/ld.so.preload","subPath":"x"}])")},
      {"LimitsFile", "volumeMounts: /etc//x/../gpupool/limits",
       container(R"("volumeMounts":[{"name":"v","mountPath":"/etc//x/../gpupool/limits"}])")},
      {"Region", "volumeMounts: run/gpupool/",
       container(R"("volumeMounts":[{"name":"v","mountPath":"run/gpupool/"}])")},
      {"LimiterFolder", "volumeMounts: /usr/local/lib/gpupool",
       container(R"("volumeMounts":[{"name":"v","mountPath":"/usr/local/lib/gpupool"}])")},
      {"Sidecar", "containers[1].securityContext.privileged",
       R"("containers":[{"name":"w","command":["x"]},{"name":"s","securityContext":{"privileged":true}}])"},
      {"SidecarHook", "containers[1].lifecycle: host",
       R"("containers":[{"name":"w","command":["x"]},)"
       R"({"name":"s","lifecycle":{"preStop":{"httpGet":{"host":"h","port":1}}}}])"},
      {"InitContainer", "initContainers[0].securityContext.privileged",
       pod(R"("initContainers":[{"name":"i","securityContext":{"privileged":true}}])")},
      {"AppArmorAnnotation", "container.apparmor.security.beta.kubernetes.io/w", container(R"("image":"i")"),
       R"({"container.apparmor.security.beta.kubernetes.io/w":"unconfined"})"},
      {"SeccompAnnotation", "seccomp.security.alpha.kubernetes.io/pod", container(R"("image":"i")"),
       R"({"seccomp.security.alpha.kubernetes.io/pod":"unconfined"})"},
      {"Cdi", "cdi.k8s.io/gpu", container(R"("image":"i")"), R"({"cdi.k8s.io/gpu":"nvidia.com/gpu=all"})"},
  };
}

api::GpuJob job_of(const Field& field) {
  auto job = test::make_job("job");
  // pod() puts the fields of the pod before its containers.
  job.spec.pod_template.text =
      R"({"metadata":{"annotations":)" + field.annotations + R"(},"spec":{)" + field.spec + "}}";
  return job;
}

class BeyondBaseline : public ::testing::TestWithParam<Field> {};

TEST_P(BeyondBaseline, IsRefusedUnlessThePoolAllowsIt) {
  const auto job = job_of(GetParam());
  auto pool = test::make_pool();
  const auto problem = validate_job(job, &pool);
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->reason, api::reason::kInvalidTemplate);
  EXPECT_THAT(problem->message, HasSubstr("spec.template."));
  EXPECT_THAT(problem->message, HasSubstr(GetParam().named));
  EXPECT_THAT(problem->message, HasSubstr("podSecurity of the pool"));
  pool.spec.pod_security = api::kPrivileged;
  EXPECT_EQ(validate_job(job, &pool), std::nullopt);
  EXPECT_EQ(validate_job(job, nullptr), std::nullopt) << "the pool may yet come";
}

INSTANTIATE_TEST_SUITE_P(Fields, BeyondBaseline, ::testing::ValuesIn(refused()),
                         [](const auto& row) { return row.param.name; });

TEST(PodSecurity, ABaselinePodMayDoTheRest) {
  const std::string spec = pod(
      R"("hostNetwork":false,"serviceAccountName":"a","runtimeClassName":"nvidia","securityContext":)"
      R"({"runAsUser":0,"fsGroup":1,"sysctls":[{"name":"net.ipv4.tcp_syncookies","value":"1"}]},)"
      R"("volumes":[{"name":"m","emptyDir":{"medium":"Memory"}},{"name":"s","secret":{"secretName":"s"}}],)"
      R"("initContainers":[{"name":"i","securityContext":{"capabilities":{"add":["CHOWN"],"drop":["ALL"]},)"
      R"("seLinuxOptions":{"type":"container_t"},"procMount":"Default","privileged":false}}])");
  const auto pool = test::make_pool();
  EXPECT_EQ(validate_job(job_of({"", "", spec}), &pool), std::nullopt);
}

TEST(PodSecurity, OnlyTheWorkerHasGpusAndOnlyThoseOfTheLease) {
  auto pool = test::make_pool();
  pool.spec.pod_security = api::kPrivileged;
  const auto sidecar = [](const std::string& list, const std::string& resource) {
    return pod("\"" + list + R"(":[{"name":"s","resources":{"limits":{")" + resource + R"(":"1"}}}])");
  };
  for (const auto& spec :
       {sidecar("initContainers", "nvidia.com/gpu"), sidecar("initContainers", "gpupool.dev/vgpu"),
        container(R"("resources":{"limits":{"nvidia.com/mig-1g.5gb":1}})"),
        std::string(R"("containers":[{"name":"w","command":["x"]},{"name":"s","resources":)"
                    R"({"requests":{"nvidia.com/gpu":"1"}}}])")}) {
    const auto problem = validate_job(job_of({"", "", spec}), &pool);
    ASSERT_TRUE(problem.has_value()) << spec;
    EXPECT_THAT(problem->message, HasSubstr("only the worker has GPUs"));
  }
  EXPECT_EQ(validate_job(job_of({"", "", container(R"("resources":{"limits":{"rdma/hca":1}})")}), &pool),
            std::nullopt);
}

}  // namespace
}  // namespace gpupool::planning
