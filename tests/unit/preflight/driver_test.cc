// SPDX-License-Identifier: Apache-2.0
#include "checks/driver.h"

#include <gtest/gtest.h>

#include "tests/unit/preflight/judged.h"

namespace gpupool::checks {
namespace {

using Library = DriverFacts::Library;

inventory::Inventory with_gpus(std::size_t count) {
  inventory::Inventory inventory;
  inventory.driver = {"550.54.15", "12.4"};
  inventory.gpus.resize(count);
  return inventory;
}

DriverFacts without_driver(Library library, const std::string& module_version = "") {
  DriverFacts facts;
  facts.library = library;
  facts.error = "no NVIDIA driver: it says why";
  facts.module_version = module_version;
  facts.pci_gpus = 1;
  return facts;
}

TEST(JudgeDriver, GoodIsADriverWithAllGpus) {
  DriverFacts facts;
  facts.library = Library::kUsable;
  facts.inventory = with_gpus(2);
  test::expect_judged(judge_driver(facts), {Verdict::kOk, "driver 550.54.15 (CUDA 12.4), 2 GPUs"});
  facts.pci_gpus = 2;
  test::expect_judged(judge_driver(facts), {Verdict::kOk, "2 GPUs"});
  facts.pci_gpus = 3;
  test::expect_judged(judge_driver(facts), {Verdict::kWarn, "serves 2 of 3 GPUs", "nvidia-smi"});
  facts.inventory = with_gpus(0);
  test::expect_judged(judge_driver(facts), {Verdict::kFail, "finds no GPU", "dmesg"});
}

TEST(JudgeDriver, SaysWhichPartIsMissing) {
  test::expect_judged(judge_driver(without_driver(Library::kMissing)),
                      {Verdict::kFail, "no NVIDIA driver: it says why", "apt install nvidia-driver"});
  test::expect_judged(judge_driver(without_driver(Library::kMissing, "550.1")),
                      {Verdict::kFail, "the kernel has driver 550.1, but NVML is missing", "libnvidia-ml1"});
  test::expect_judged(judge_driver(without_driver(Library::kNoModule)),
                      {Verdict::kFail, "module nvidia is not loaded", "modprobe nvidia"});
  test::expect_judged(judge_driver(without_driver(Library::kFailing)),
                      {Verdict::kFail, "it says why", "dmesg"});
  auto nouveau = without_driver(Library::kNoModule);
  nouveau.nouveau = true;
  test::expect_judged(judge_driver(nouveau), {Verdict::kFail, "nouveau holds the GPUs", "blacklist nouveau"});
  auto no_gpu = without_driver(Library::kMissing);
  no_gpu.pci_gpus = 0;
  test::expect_judged(judge_driver(no_gpu),
                      {Verdict::kFail, "no NVIDIA GPU on the PCI bus", "lspci -d 10de:"});
}

TEST(JudgeDriver, NamesBothSidesOfAMismatch) {
  auto facts = without_driver(Library::kMismatch, "535.1");
  facts.library_version = "550.2";
  test::expect_judged(judge_driver(facts),
                      {Verdict::kFail, "the kernel module is 535.1, the library is 550.2", "reboot"});
  facts.library_version.clear();
  test::expect_judged(judge_driver(facts),
                      {Verdict::kFail, "the library is another version", "modprobe -r nvidia_drm"});
}

}  // namespace
}  // namespace gpupool::checks
