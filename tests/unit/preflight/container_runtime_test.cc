// SPDX-License-Identifier: Apache-2.0
#include "checks/container_runtime.h"

#include <gtest/gtest.h>

#include "tests/unit/preflight/judged.h"

namespace gpupool::checks {
namespace {

constexpr UnixSocket kAlive{.exists = true, .answers = true};

RuntimeEngine engine(const std::string& name = "containerd") {
  RuntimeEngine engine;
  engine.name = name;
  engine.service = name == "CRI-O" ? "crio" : name;
  engine.socket = kAlive;
  engine.config.path = "/etc/" + engine.service + "/config.toml";
  engine.config.default_handler = "nvidia";
  engine.config.handlers = {
      {.name = "runc", .binary = "", .systemd_cgroup = true},
      {.name = "nvidia", .binary = "/usr/bin/nvidia-container-runtime", .systemd_cgroup = true}};
  return engine;
}

ContainerRuntimeFacts facts_of(RuntimeEngine engine) {
  return {.engines = {std::move(engine)}, .cdi_specs = {}, .systemd = true};
}

struct EngineCase {
  void (*spoil)(ContainerRuntimeFacts& facts);
  test::Expected expected;
};

void expect_all(const std::vector<EngineCase>& cases) {
  for (const auto& test_case : cases) {
    auto facts = facts_of(engine());
    test_case.spoil(facts);
    test::expect_judged(judge_container_runtime(facts), test_case.expected);
  }
}

void drop_nvidia(ContainerRuntimeFacts& facts) {
  facts.engines[0].config.handlers.pop_back();
  facts.engines[0].config.default_handler = "runc";
}

TEST(JudgeContainerRuntime, TheEngine) {
  expect_all({
      {[](auto&) {}, {Verdict::kOk, "containerd, runtime nvidia"}},
      {[](auto& f) { f.engines.clear(); },
       {Verdict::kFail, "neither containerd nor CRI-O", "apt install containerd"}},
      {[](auto& f) { f.engines[0].socket = {}; },
       {Verdict::kFail, "containerd does not run", "systemctl enable --now containerd"}},
      {[](auto& f) { f.engines[0].socket.answers = false; },
       {Verdict::kFail, "does not answer at its socket", "journalctl -u containerd"}},
      {[](auto& f) { f.engines[0].config.error = "line 3: what"; },
       {Verdict::kFail, "config.toml: line 3: what", "correct the file"}},
      {[](auto& f) { f.engines[0].config.cri_disabled = true; },
       {Verdict::kFail, "disables the plugin", "disabled_plugins"}},
      {[](auto& f) {
         f.engines[0].socket = {};
         f.engines.push_back(engine("CRI-O"));
       },
       {Verdict::kOk, "CRI-O, runtime nvidia"}},
  });
}

TEST(JudgeContainerRuntime, TheWayToTheGpus) {
  expect_all({
      {[](auto& f) { f.engines[0].config.default_handler = "runc"; },
       {Verdict::kWarn, "runtime nvidia is not the default, which is runc",
        "--runtime=containerd --set-as-default"}},
      {[](auto& f) { f.engines[0].config.handlers[1].name = f.engines[0].config.default_handler = "gpu"; },
       {Verdict::kOk, "runtime gpu"}},
      {[](auto& f) { f.engines[0].config.handlers[1].binary_missing = true; },
       {Verdict::kFail, "/usr/bin/nvidia-container-runtime does not exist",
        "apt install nvidia-container-toolkit"}},
      {[](auto& f) { drop_nvidia(f); },
       {Verdict::kFail, "no runtime for NVIDIA's GPUs, and there is no CDI spec", "nvidia-ctk"}},
      {[](auto& f) {
         drop_nvidia(f);
         f.cdi_specs = {"/etc/cdi/nvidia.yaml"};
       },
       {Verdict::kFail, "that containerd does not look at", "enable_cdi = true"}},
      {[](auto& f) {
         drop_nvidia(f);
         f.cdi_specs = {"/etc/cdi/nvidia.yaml"};
         f.engines[0].config.cdi = true;
       },
       {Verdict::kWarn, "but the CDI spec /etc/cdi/nvidia.yaml", "cdiAnnotations"}},
  });
}

TEST(JudgeContainerRuntime, WhoManagesCgroups) {
  expect_all({
      {[](auto& f) { f.engines[0].config.handlers[0].systemd_cgroup = false; },
       {Verdict::kOk, "nvidia"}},  // in use by nobody
      {[](auto& f) { f.engines[0].config.handlers[1].systemd_cgroup = false; },
       {Verdict::kWarn, "not those of runtime nvidia", "SystemdCgroup = true"}},
      {[](auto& f) { f.systemd = false; },
       {Verdict::kFail, "leaves its cgroups to systemd", "SystemdCgroup = false"}},
      {[](auto& f) {
         f.systemd = false;
         f.engines = {engine("CRI-O")};
       },
       {Verdict::kFail, "leaves its cgroups to systemd", "cgroup_manager = \"cgroupfs\""}},
  });
}

}  // namespace
}  // namespace gpupool::checks
