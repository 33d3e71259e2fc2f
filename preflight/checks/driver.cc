// SPDX-License-Identifier: Apache-2.0
#include "checks/driver.h"

namespace gpupool::checks {
namespace {

constexpr char kInstall[] =
    "install NVIDIA's driver, on Debian: apt install nvidia-driver nvidia-smi; then reboot";
constexpr char kKernelLog[] = "see what the driver says: nvidia-smi; dmesg | grep -iE 'nvrm|xid'";

void judge_missing(const DriverFacts& facts, Judgement& judgement) {
  if (!facts.module_version.empty()) {
    judgement.fail("the kernel has driver " + facts.module_version + ", but NVML is missing: " + facts.error,
                   "install the driver's library of version " + facts.module_version +
                       ", on Debian: apt install libnvidia-ml1; or name it: --nvml-library PATH");
    return;
  }
  judgement.fail((facts.pci_gpus == 0 ? "no NVIDIA GPU on the PCI bus, and " : "") + facts.error,
                 facts.pci_gpus == 0
                     ? "see that the GPU is plugged in and enabled in the firmware: lspci -d 10de:\n" +
                           std::string(kInstall)
                     : kInstall);
}

void judge_no_module(const DriverFacts& facts, Judgement& judgement) {
  if (facts.nouveau) {
    judgement.fail("the kernel's driver nouveau holds the GPUs",
                   "echo 'blacklist nouveau' > /etc/modprobe.d/gpupool.conf; update-initramfs -u; reboot");
    return;
  }
  judgement.fail("the kernel module nvidia is not loaded",
                 "modprobe nvidia; if that fails, its build for this kernel did: dkms status");
}

void judge_mismatch(const DriverFacts& facts, Judgement& judgement) {
  const auto known = [](const std::string& version) { return version.empty() ? "another version" : version; };
  judgement.fail(
      "the kernel module is " + known(facts.module_version) + ", the library is " +
          known(facts.library_version),
      "reboot; or end all programs on the GPUs, then: modprobe -r nvidia_drm nvidia_modeset nvidia_uvm "
      "nvidia; modprobe nvidia");
}

void judge_usable(const DriverFacts& facts, Judgement& judgement) {
  const auto& driver = facts.inventory->driver;
  const auto gpus = facts.inventory->gpus.size();
  const std::string version =
      "driver " + driver.version + (driver.cuda_version.empty() ? "" : " (CUDA " + driver.cuda_version + ")");
  judgement.note(version);
  judgement.note(counted(gpus, "GPU"));
  if (gpus == 0) {
    judgement.fail(version + " finds no GPU", kKernelLog);
  } else if (gpus < facts.pci_gpus) {
    judgement.warn(version + " serves " + std::to_string(gpus) + " of " + counted(facts.pci_gpus, "GPU"),
                   kKernelLog);
  }
}

}  // namespace

Finding judge_driver(const DriverFacts& facts) {
  Judgement judgement("driver");
  if (facts.inventory) {
    judge_usable(facts, judgement);
    return judgement.finding();
  }
  switch (facts.library) {
    case DriverFacts::Library::kMissing:
      judge_missing(facts, judgement);
      break;
    case DriverFacts::Library::kNoModule:
      judge_no_module(facts, judgement);
      break;
    case DriverFacts::Library::kMismatch:
      judge_mismatch(facts, judgement);
      break;
    case DriverFacts::Library::kUsable:
    case DriverFacts::Library::kFailing:
      judgement.fail(facts.error, kKernelLog);
      break;
  }
  return judgement.finding();
}

}  // namespace gpupool::checks
