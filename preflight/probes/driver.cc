// SPDX-License-Identifier: Apache-2.0
#include "probes/driver.h"

#include <array>
#include <filesystem>

#include "nvidia/nvml/library.h"
#include "nvidia/nvml/source.h"

namespace gpupool::probes {
namespace {

constexpr char kName[] = "libnvidia-ml.so.1";
// Debian and Ubuntu, Fedora and SUSE, NixOS, and where NVIDIA's GPU operator has its driver container.
constexpr std::array kFolders{"/usr/lib/x86_64-linux-gnu",
                              "/usr/lib/aarch64-linux-gnu",
                              "/usr/lib64",
                              "/usr/lib",
                              "/run/opengl-driver/lib",
                              "/run/nvidia/driver/usr/lib/x86_64-linux-gnu",
                              "/run/nvidia/driver/usr/lib64"};

std::string find_library(const HostRoot& root) {
  if (root.is_own()) return kName;  // the loader knows better
  for (const char* folder : kFolders) {
    const std::string path = std::string(folder) + "/" + kName;
    if (root.exists(path)) return root.path(path);
  }
  return kName;
}

// "550.54.15" of libnvidia-ml.so.550.54.15, which the loaded name is a link to.
std::string version_of(const HostRoot& root, const std::string& library) {
  std::vector<std::string> places;
  if (library.find('/') != std::string::npos) {
    std::error_code none;
    places.push_back(std::filesystem::canonical(library, none).string());
  } else {
    for (const char* folder : kFolders) places.push_back(root.path(std::string(folder) + "/" + library));
  }
  for (const std::string& place : places) {
    const auto at = place.rfind(".so.");
    if (at == std::string::npos) continue;
    const std::string version = place.substr(at + 4);
    if (version.find('.') != std::string::npos) return version;
  }
  return {};
}

checks::DriverFacts::Library open(const std::string& name) {
  using Library = checks::DriverFacts::Library;
  using nvidia::nvml::Return;
  const auto library = nvidia::NvmlLibrary::load(name);
  if (!library)
    return library.error().code == base::ErrorCode::kNotFound ? Library::kMissing : Library::kFailing;
  const auto& nvml = (*library)->functions();
  const Return opened = nvml.init();
  if (opened == Return::kSuccess) nvml.shutdown();
  switch (opened) {
    case Return::kSuccess:
      return Library::kUsable;
    case Return::kDriverNotLoaded:
      return Library::kNoModule;
    case Return::kLibraryMismatch:
      return Library::kMismatch;
    default:
      return Library::kFailing;
  }
}

std::size_t count_pci_gpus(const HostRoot& root) {
  std::size_t count = 0;
  const std::string devices = "/sys/bus/pci/devices";
  for (const std::string& name : root.names(devices)) {
    const std::string device = devices + "/" + name;
    // Display controllers: others of NVIDIA's are audio, USB and switches.
    if (root.line(device + "/vendor") == "0x10de" && root.line(device + "/class").starts_with("0x03"))
      ++count;
  }
  return count;
}

}  // namespace

checks::DriverFacts driver(const HostRoot& root, const std::string& library, const base::Log& log) {
  checks::DriverFacts facts;
  const std::string name = library.empty() ? find_library(root) : library;
  facts.library_version = version_of(root, name);
  facts.module_version = root.line("/sys/module/nvidia/version");
  facts.nouveau = root.exists("/sys/module/nouveau");
  facts.pci_gpus = count_pci_gpus(root);
  facts.library = open(name);
  const auto source = nvidia::make_nvml_source({.library = name, .sysfs = root.path("/sys")}, log);
  auto listed = source->list();
  if (listed) {
    facts.inventory = std::move(*listed);
  } else {
    facts.error = listed.error().message;
  }
  return facts;
}

}  // namespace gpupool::probes
