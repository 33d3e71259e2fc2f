// SPDX-License-Identifier: Apache-2.0
#include "probes/runtime_config.h"

#include <gmock/gmock.h>

#include "probes/cdi_specs.h"
#include "tests/unit/preflight/temporary_root.h"

namespace gpupool::probes {
namespace {

constexpr char kContainerd[] = "/etc/containerd/config.toml";

const checks::RuntimeHandler* handler(const checks::RuntimeConfig& config, const std::string& name) {
  for (const auto& handler : config.handlers) {
    if (handler.name == name) return &handler;
  }
  return nullptr;
}

std::string with_nvidia(int version, const std::string& plugin, const std::string& imports = "") {
  const std::string table = "plugins.\"" + plugin + "\".containerd";
  return "version = " + std::to_string(version) + "\n" + imports + "[" + table +
         "]\ndefault_runtime_name = \"nvidia\"\n[" + table +
         ".runtimes.nvidia.options]\nBinaryName = \"/usr/bin/nvidia-container-runtime\"\nSystemdCgroup = "
         "true\n";
}

TEST(ContainerdConfig, HasAnotherNameForItsPluginInEachVersion) {
  for (const auto& [version, plugin] : std::vector<std::pair<int, std::string>>{
           {1, "cri"}, {2, "io.containerd.grpc.v1.cri"}, {3, "io.containerd.cri.v1.runtime"}}) {
    const test::TemporaryRoot machine;
    machine.write(kContainerd, with_nvidia(version, plugin));
    const auto config = containerd_config(machine.root());
    EXPECT_EQ(config.error, "");
    EXPECT_EQ(config.default_handler, "nvidia") << plugin;
    ASSERT_NE(handler(config, "nvidia"), nullptr);
    EXPECT_TRUE(handler(config, "nvidia")->systemd_cgroup);
    EXPECT_TRUE(handler(config, "nvidia")->binary_missing);
    EXPECT_EQ(config.cdi, version == 3);
    ASSERT_NE(handler(config, "runc"), nullptr);  // built in
  }
}

TEST(ContainerdConfig, FollowsImportsAndLaterOnesWin) {
  const test::TemporaryRoot machine;
  machine.write(kContainerd, with_nvidia(2, "io.containerd.grpc.v1.cri",
                                         "imports = [\"/etc/containerd/conf.d/*.toml\", \"more.toml\"]\n"));
  machine.write("/etc/containerd/conf.d/10.toml",
                "[plugins.\"io.containerd.grpc.v1.cri\".containerd]\ndefault_runtime_name = \"a\"\n");
  machine.write("/etc/containerd/conf.d/20.toml",
                "[plugins.\"io.containerd.grpc.v1.cri\".containerd]\ndefault_runtime_name = \"b\"\n");
  machine.write("/etc/containerd/conf.d/30.toml.bak", "not TOML");
  machine.write("/etc/containerd/more.toml", "[plugins.\"io.containerd.grpc.v1.cri\"]\nenable_cdi = true\n");
  machine.write("/usr/bin/nvidia-container-runtime", "");
  const auto config = containerd_config(machine.root());
  EXPECT_EQ(config.error, "");
  EXPECT_EQ(config.default_handler, "b");
  EXPECT_TRUE(config.cdi);
  ASSERT_NE(handler(config, "nvidia"), nullptr);
  EXPECT_FALSE(handler(config, "nvidia")->binary_missing);
}

TEST(ContainerdConfig, WithoutAFileIsTheDefault) {
  const auto config = containerd_config(test::TemporaryRoot().root());
  EXPECT_EQ(config.error, "");
  EXPECT_EQ(config.default_handler, "runc");
  EXPECT_FALSE(config.cri_disabled);
}

TEST(ContainerdConfig, NamesWhatItCannotRead) {
  const test::TemporaryRoot machine;
  machine.write(kContainerd, "version = 2\nimports = 5\n[plugins\n");
  EXPECT_THAT(containerd_config(machine.root()).error, testing::HasSubstr("line 3"));
  machine.write(kContainerd, "imports = 5\ndisabled_plugins = [\"cri\"]\nplugins = \"none\"\n");
  const auto config = containerd_config(machine.root());
  EXPECT_EQ(config.error, "");
  EXPECT_TRUE(config.cri_disabled);
}

TEST(CrioConfig, MergesItsFolder) {
  const test::TemporaryRoot machine;
  machine.write("/etc/crio/crio.conf", "[crio.runtime]\ncgroup_manager = \"cgroupfs\"\n");
  machine.write("/etc/crio/crio.conf.d/99-nvidia.conf",
                "[crio.runtime]\ndefault_runtime = \"nvidia\"\n[crio.runtime.runtimes.nvidia]\nruntime_path "
                "= \"/usr/bin/nvidia-container-runtime\"\n");
  const auto config = crio_config(machine.root());
  EXPECT_EQ(config.error, "");
  EXPECT_EQ(config.default_handler, "nvidia");
  ASSERT_NE(handler(config, "nvidia"), nullptr);
  EXPECT_FALSE(handler(config, "nvidia")->systemd_cgroup);
  machine.write("/etc/crio/crio.conf.d/99-nvidia.conf", "[crio");
  EXPECT_THAT(crio_config(machine.root()).error, testing::HasSubstr("99-nvidia.conf"));
}

TEST(CrioConfig, WithoutAFileIsTheDefault) {
  const auto config = crio_config(test::TemporaryRoot().root());
  EXPECT_EQ(config.default_handler, "runc");
  ASSERT_EQ(config.handlers.size(), 1U);
  EXPECT_TRUE(config.handlers[0].systemd_cgroup);
  EXPECT_TRUE(config.cdi);
}

TEST(CdiSpecs, AreThoseOfGpus) {
  const test::TemporaryRoot machine;
  machine.write("/etc/cdi/a.yaml", "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices: [{name: all}]\n");
  machine.write("/etc/cdi/b.yaml", "kind: vendor.com/net\ndevices: [{name: all}]\n");
  machine.write("/etc/cdi/c.yaml", "kind: [\n");
  machine.write("/etc/cdi/d.txt", "kind: nvidia.com/gpu\ndevices: [{name: all}]\n");
  machine.write("/etc/cdi/e.yaml", "kind: nvidia.com/gpu\ndevices: []\n");
  machine.write("/run/cdi/f.json", R"({"kind": "nvidia.com/gpu", "devices": [{"name": "0"}]})");
  machine.link("/var/run", "/run");
  EXPECT_EQ(cdi_specs(machine.root()), (std::vector<std::string>{"/etc/cdi/a.yaml", "/var/run/cdi/f.json"}));
}

}  // namespace
}  // namespace gpupool::probes
