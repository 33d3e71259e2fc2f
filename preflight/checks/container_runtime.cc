// SPDX-License-Identifier: Apache-2.0
#include "checks/container_runtime.h"

#include <algorithm>

#include "base/join.h"

namespace gpupool::checks {
namespace {

// The container toolkit's runtime goes by this name wherever it is installed; the name of the handler is
// free.
bool is_nvidia(const RuntimeHandler& handler) {
  return handler.name == "nvidia" || handler.binary.find("nvidia-container-runtime") != std::string::npos;
}

std::string configure_command(const RuntimeEngine& engine) {
  return "nvidia-ctk runtime configure --runtime=" +
         std::string(engine.name == "CRI-O" ? "crio" : "containerd") +
         " --set-as-default; systemctl restart " + engine.service;
}

// One of several engines serves the kubelet: the one that runs.
const RuntimeEngine* engine_in_use(const std::vector<RuntimeEngine>& engines) {
  if (engines.empty()) return nullptr;
  const auto answering =
      std::ranges::find_if(engines, [](const auto& engine) { return engine.socket.answers; });
  return answering != engines.end() ? &*answering : &engines.front();
}

void judge_socket(const RuntimeEngine& engine, Judgement& judgement) {
  if (engine.socket.answers) return;
  judgement.fail(engine.name + (engine.socket.exists ? " does not answer at its socket" : " does not run"),
                 "systemctl enable --now " + engine.service + "; journalctl -u " + engine.service);
}

void judge_gpus(const RuntimeEngine& engine, const std::vector<std::string>& specs, Judgement& judgement) {
  const auto& config = engine.config;
  const auto nvidia = std::ranges::find_if(config.handlers, is_nvidia);
  if (nvidia != config.handlers.end()) {
    judgement.note("runtime " + nvidia->name);
    if (nvidia->binary_missing) {
      judgement.fail("runtime " + nvidia->name + " is configured, but " + nvidia->binary + " does not exist",
                     "apt install nvidia-container-toolkit");
    } else if (config.default_handler != nvidia->name) {
      judgement.warn("runtime " + nvidia->name + " is not the default, which is " +
                         (config.default_handler.empty() ? "another" : config.default_handler),
                     configure_command(engine) + "; or give jobs' pods the runtimeClassName of it");
    }
    return;
  }
  if (!specs.empty()) {
    judgement.note("CDI spec " + base::join(specs, " "));
    if (!config.cdi) {
      judgement.fail("no runtime for NVIDIA's GPUs, and a CDI spec (" + base::join(specs, " ") + ") that " +
                         engine.name + " does not look at",
                     configure_command(engine) + "; or enable_cdi = true in " + config.path);
      return;
    }
    judgement.warn(
        "no runtime for NVIDIA's GPUs, but the CDI spec " + base::join(specs, " "),
        "let the device plugin pass GPUs by CDI (passing: {environment: false, cdiAnnotations: true} in its "
        "configuration), or: " +
            configure_command(engine));
    return;
  }
  judgement.fail(
      engine.name + " has no runtime for NVIDIA's GPUs, and there is no CDI spec for nvidia.com/gpu",
      "apt install nvidia-container-toolkit; " + configure_command(engine));
}

// systemd and runc would both move processes in one cgroup hierarchy; without systemd, runc cannot use
// systemd's driver.
void judge_cgroup_manager(const RuntimeEngine& engine, bool systemd, Judgement& judgement) {
  for (const auto& handler : engine.config.handlers) {
    if (handler.name != engine.config.default_handler && !is_nvidia(handler)) continue;
    if (handler.systemd_cgroup == systemd) continue;
    const std::string setting =
        engine.name == "CRI-O" ? std::string("cgroup_manager = ") + (systemd ? "\"systemd\"" : "\"cgroupfs\"")
                               : std::string("SystemdCgroup = ") + (systemd ? "true" : "false");
    const std::string remedy = "set " + setting + " for runtime " + handler.name + " in " +
                               engine.config.path + ", cgroupDriver: " + (systemd ? "systemd" : "cgroupfs") +
                               " in the kubelet's configuration, and restart both";
    if (systemd) {
      judgement.warn("systemd manages the machine's cgroups, but not those of runtime " + handler.name,
                     remedy);
    } else {
      judgement.fail("runtime " + handler.name + " leaves its cgroups to systemd, which does not run here",
                     remedy);
    }
  }
}

}  // namespace

Finding judge_container_runtime(const ContainerRuntimeFacts& facts) {
  Judgement judgement("container-runtime");
  const auto* const engine = engine_in_use(facts.engines);
  if (engine == nullptr) {
    judgement.fail("neither containerd nor CRI-O is installed",
                   "apt install containerd nvidia-container-toolkit");
    return judgement.finding();
  }
  judgement.note(engine->name);
  judge_socket(*engine, judgement);
  if (!engine->config.error.empty()) {
    judgement.fail(engine->config.path + ": " + engine->config.error,
                   "correct the file; systemctl restart " + engine->service);
    return judgement.finding();
  }
  if (engine->config.cri_disabled) {
    // Docker's packages install containerd like this.
    judgement.fail(engine->config.path + " disables the plugin that kubelets talk to",
                   "take cri out of disabled_plugins in " + engine->config.path + "; systemctl restart " +
                       engine->service);
  }
  judge_gpus(*engine, facts.cdi_specs, judgement);
  judge_cgroup_manager(*engine, facts.systemd, judgement);
  return judgement.finding();
}

}  // namespace gpupool::checks
