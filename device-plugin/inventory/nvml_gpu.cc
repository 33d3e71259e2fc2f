#include "inventory/nvml_gpu.h"

#include <array>
#include <cctype>

#include "inventory/numa_node.h"
#include "inventory/nvml_mig.h"

namespace gpupool::inventory {

using nvml::Return;

namespace {

// What a GPU does not have is no failure of it.
bool is_absence(Return code) {
  switch (code) {
    case Return::kNotSupported:
    case Return::kFunctionNotFound:
    case Return::kNoPermission:
    case Return::kInvalidArgument:
    case Return::kNotFound:
      return true;
    default:
      return false;
  }
}

// Asks one thing after the other and keeps the first real failure.
class Questions {
 public:
  bool answered(Return code) {
    if (code != Return::kSuccess && !is_absence(code) && failure_ == Return::kSuccess) failure_ = code;
    return code == Return::kSuccess;
  }
  Return failure() const { return failure_; }

 private:
  Return failure_ = Return::kSuccess;
};

void read_numbers(const NvmlFunctions& nvml, nvml::Device device, Questions& ask, Gpu& gpu) {
  unsigned int number = 0;
  if (ask.answered(invoke(nvml.index, device, &number))) gpu.index = number;
  if (ask.answered(invoke(nvml.minor_number, device, &number))) gpu.minor = number;
  nvml::Memory memory{};
  if (ask.answered(invoke(nvml.memory, device, &memory))) {
    gpu.memory_mib = static_cast<std::int64_t>(memory.total / nvml::kMiB);
  }
  int major = 0;
  int minor = 0;
  if (ask.answered(invoke(nvml.compute_capability, device, &major, &minor))) {
    gpu.compute_major = major;
    gpu.compute_minor = minor;
  }
}

}  // namespace

tl::expected<Gpu, Return> read_gpu(const NvmlFunctions& nvml, nvml::Device device, const std::string& sysfs) {
  Gpu gpu;
  std::array<char, nvml::kUuidSize> uuid{};
  if (const Return done = nvml.uuid(device, uuid.data(), nvml::kUuidSize); done != Return::kSuccess) {
    return tl::unexpected(done);
  }
  gpu.uuid = uuid.data();

  Questions ask;
  std::array<char, nvml::kNameSize> name{};
  if (ask.answered(invoke(nvml.name, device, name.data(), static_cast<unsigned int>(nvml::kNameSize)))) {
    gpu.model = model_label(name.data());
  }
  read_numbers(nvml, device, ask, gpu);
  nvml::PciInfo pci{};
  if (ask.answered(invoke(nvml.pci_info, device, &pci))) {
    gpu.pci_bus_id = pci.bus_id;
    gpu.numa_node = numa_node(sysfs, pci);
  }
  unsigned int current = 0;
  unsigned int pending = 0;
  if (ask.answered(invoke(nvml.mig_mode, device, &current, &pending)) && current == nvml::kEnabled) {
    gpu.mig_enabled = true;
    gpu.mig_instances = read_mig_instances(nvml, device, gpu.memory_mib);
  }
  if (ask.failure() != Return::kSuccess) return tl::unexpected(ask.failure());
  return gpu;
}

std::string model_label(const std::string& product) {
  constexpr std::size_t kLongest = 63;
  const auto is_alnum = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::string label;
  for (const char c : product.substr(0, kLongest)) {
    label += is_alnum(c) || c == '.' || c == '_' ? c : '-';
  }
  while (!label.empty() && !is_alnum(label.back())) label.pop_back();
  while (!label.empty() && !is_alnum(label.front())) label.erase(0, 1);
  return label;
}

}  // namespace gpupool::inventory
