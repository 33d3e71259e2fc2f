// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/physical.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <iterator>

namespace gpupool::fake_cuda {

std::uint64_t add_handle(Driver& driver, const std::shared_ptr<Physical>& memory) {
  Objects& objects = driver.objects();
  ++memory->handles;
  for (const auto& [handle, known] : objects.physical) {
    if (known == memory) return handle;
  }
  // A released handle's value is not used again.
  const std::uint64_t handle = 0x10000 + ++objects.last_handle * 16;
  objects.physical[handle] = memory;
  return handle;
}

Result create_physical(Driver& driver, std::uint64_t size, const AllocationProperties& properties,
                       std::uint64_t* out) {
  if (size == 0 || size % kGranule != 0 || properties.type != 1) return Result::kInvalidValue;
  Device* device = nullptr;
  if (properties.location.type == kLocationDevice) {
    device = driver.device(properties.location.id);
    if (device == nullptr) return Result::kInvalidDevice;
    if (!driver.charge(*device, Kind::kMemory, size)) return Result::kOutOfMemory;
  } else if (properties.location.type < kLocationDevice ||
             properties.location.type > kLocationHostNumaCurrent) {
    return Result::kInvalidValue;
  }
  auto memory = std::make_shared<Physical>();
  memory->device = device;
  memory->properties = properties;
  memory->size = size;
  memory->backing = std::make_shared<Backing>(size);
  *out = add_handle(driver, memory);
  return Result::kSuccess;
}

void give_back_unused(Driver& driver, Physical& memory) {
  if (memory.handles > 0 || memory.mappings > 0 || memory.device == nullptr) return;
  if (memory.shared != 0) {
    driver.state().drop(memory.shared);
  } else {
    driver.discharge(*memory.device, Kind::kMemory, memory.size);
  }
}

Result unmap_physical(Driver& driver, Pointer address, std::uint64_t size) {
  const std::uint64_t end = address + size;
  auto& ranges = driver.memory().all();
  const auto first = ranges.find(address);
  std::uint64_t at = address;
  auto last = first;
  while (at < end) {
    const bool whole = last != ranges.end() && last->first == at && last->second.source == Source::kMapped &&
                       last->second.size <= end - at;
    if (!whole) return Result::kInvalidValue;
    at += last->second.size;
    ++last;
  }
  for (auto mapping = first; mapping != last; ++mapping) {
    Physical& memory = *mapping->second.physical;
    --memory.mappings;
    give_back_unused(driver, memory);
  }
  ranges.erase(first, last);
  return size != 0 ? Result::kSuccess : Result::kInvalidValue;
}

int export_physical(Driver& driver, Physical& memory) {
  if (memory.device == nullptr) return -1;
  if (memory.shared == 0) {
    memory.shared = driver.state().share(memory.device->state, memory.size);
    if (memory.shared == 0) return -1;
  }
  const std::string name = "fake-cuda " + std::to_string(memory.shared) + ' ' + memory.device->uuid;
  const int file = memory.backing->file(name.c_str());
  return file >= 0 ? fcntl(file, F_DUPFD_CLOEXEC, 0) : -1;
}

Result import_physical(Driver& driver, int file, std::uint64_t* out) {
  // The descriptor says what it is in its name.
  char name[128] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  if (readlink(link.c_str(), name, sizeof name - 1) <= 0) return Result::kInvalidValue;
  unsigned long long id = 0;
  char uuid[64] = {};
  if (std::sscanf(name, "/memfd:fake-cuda %llu %63s", &id, uuid) != 2)
    return Result::kInvalidValue;  // NOLINT
  for (const auto& [handle, known] : driver.objects().physical) {
    if (known->shared == id) {
      *out = add_handle(driver, known);
      return Result::kSuccess;
    }
  }
  struct stat now{};
  if (fstat(file, &now) != 0) return Result::kInvalidValue;
  for (const auto& device : driver.devices()) {
    if (device->uuid != uuid) continue;
    if (!driver.state().hold(id)) return Result::kInvalidValue;
    auto memory = std::make_shared<Physical>();
    memory->device = device.get();
    memory->properties.type = 1;
    memory->properties.requested_handle_types = 1;
    memory->properties.location = {.type = kLocationDevice, .id = device->ordinal};
    memory->size = static_cast<std::uint64_t>(now.st_size);
    memory->backing = std::make_shared<Backing>(memory->size, fcntl(file, F_DUPFD_CLOEXEC, 0));
    memory->shared = id;
    *out = add_handle(driver, memory);
    return Result::kSuccess;
  }
  return Result::kInvalidDevice;
}

}  // namespace gpupool::fake_cuda
