// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/state_lock.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace gpupool::fake_cuda {

namespace {

constexpr std::uint64_t kStateMagic = 0x6c6c696645617563;
constexpr std::uint64_t kStateLayout = 2;

std::uint64_t own_pid_namespace() {
  struct stat now{};
  return stat("/proc/self/ns/pid", &now) == 0 ? now.st_ino : 0;
}

int open_file(const std::string& path, bool create) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0666);  // NOLINT
  if (file >= 0) {
    struct stat now{};
    // Processes of other users share the GPU, whatever the umask of the first.
    if (create && fstat(file, &now) == 0 && (now.st_mode & 0777U) != 0666U) fchmod(file, 0666);
    return file;
  }
  return create ? file : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);  // NOLINT
}

}  // namespace

StateFile::~StateFile() {
  if (state_ != nullptr) munmap(state_, sizeof(State));
  if (file_ >= 0) close(file_);
}

std::string StateFile::default_path() {
  // NOLINTBEGIN(concurrency-mt-unsafe)
  if (const char* path = std::getenv("GPUPOOL_FAKE_CUDA_STATE")) return path;
  const char* control = std::getenv("GPUPOOL_FAKE_NVML");
  // NOLINTEND(concurrency-mt-unsafe)
  return control != nullptr ? std::string(control) + ".cuda" : std::string();
}

bool StateFile::open(const std::string& path, bool create) {
  if (path.empty()) return false;
  file_ = open_file(path, create);
  if (file_ < 0) return false;
  // The mapping has an open file description of its own: a child inherits mappings, and would keep our locks
  // with it. A reader has no locks, and closing a descriptor would take those of a writer in the same
  // process.
  const int mapped = create ? ::open(path.c_str(), O_RDWR | O_CLOEXEC) : file_;  // NOLINT
  struct stat now{};
  bool good = mapped >= 0 && fstat(mapped, &now) == 0;
  if (good && create) {
    const Lock lock(*this);
    good = fstat(mapped, &now) == 0 && (now.st_size != 0 || ftruncate(mapped, sizeof(State)) == 0);
  }
  good = good && fstat(mapped, &now) == 0 && static_cast<std::size_t>(now.st_size) == sizeof(State);
  void* const at =
      good ? mmap(nullptr, sizeof(State), create ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, mapped, 0)
           : MAP_FAILED;
  if (mapped >= 0 && mapped != file_) close(mapped);
  if (at != MAP_FAILED) {
    state_ = static_cast<State*>(at);
    if (create) {
      const Lock lock(*this);
      if (state_->magic == 0) {
        state_->layout = kStateLayout;
        state_->magic = kStateMagic;
      }
    }
    if (state_->magic == kStateMagic && state_->layout == kStateLayout) return true;
    munmap(at, sizeof(State));
    state_ = nullptr;
  }
  close(file_);
  file_ = -1;
  return false;
}

bool StateFile::attach() {
  const Lock table(*this);
  for (unsigned i = 0; i < kMaxSlots; ++i) {
    struct flock lock = byte_lock(F_WRLCK, kSlotLocks + i);
    if (fcntl(file_, F_OFD_SETLK, &lock) != 0) continue;
    Slot& slot = state_->slots[i];
    for (auto& device : slot.bytes) {
      for (auto& bytes : device) bytes = 0;
    }
    for (auto& launches : slot.launches) launches = 0;
    for (auto& time : slot.kernel_ns) time = 0;
    ++slot.incarnation;
    slot.pid = getpid();
    slot.pid_namespace = own_pid_namespace();
    struct flock named = byte_lock(F_WRLCK, kPidLocks + i);
    fcntl(file_, F_SETLK, &named);
    if (state_->high_slot <= i) state_->high_slot = i + 1;
    slot_ = static_cast<int>(i);
    return true;
  }
  return false;
}

void StateFile::forget() {
  if (file_ >= 0) close(file_);
  file_ = -1;
  slot_ = -1;
}

int StateFile::device(const std::string& uuid, bool create) {
  if (uuid.empty() || uuid.size() >= sizeof state_->uuids[0]) return -1;
  const auto find = [&] {
    for (unsigned i = 0; i < kMaxDevices; ++i) {
      if (uuid == state_->uuids[i]) return static_cast<int>(i);
    }
    return -1;
  };
  if (!create) return find();
  const Lock lock(*this);
  if (const int known = find(); known >= 0) return known;
  for (unsigned i = 0; i < kMaxDevices; ++i) {
    if (state_->uuids[i][0] != '\0') continue;
    std::memcpy(state_->uuids[i], uuid.c_str(), uuid.size() + 1);
    return static_cast<int>(i);
  }
  return -1;
}

bool StateFile::charge(unsigned device, Kind kind, std::uint64_t bytes, std::uint64_t capacity) {
  auto& at = state_->slots[slot_].bytes[device][static_cast<unsigned>(kind)];
  if (kind == Kind::kManaged) {
    at += bytes;
    return true;
  }
  const Lock lock(*this);
  const auto fits = [&] {
    const std::uint64_t now = sum(device);
    return now <= capacity && bytes <= capacity - now;
  };
  if (!fits()) {
    reap();
    if (!fits()) return false;
  }
  at += bytes;
  return true;
}

void StateFile::discharge(unsigned device, Kind kind, std::uint64_t bytes) {
  state_->slots[slot_].bytes[device][static_cast<unsigned>(kind)] -= bytes;
}

void StateFile::count_launch(unsigned device, std::uint64_t kernel_ns) {
  ++state_->slots[slot_].launches[device];
  state_->slots[slot_].kernel_ns[device] += kernel_ns;
}

std::vector<std::string> StateFile::uuids() const {
  std::vector<std::string> found;
  for (const auto& uuid : state_->uuids) {
    if (uuid[0] != '\0') found.emplace_back(uuid);
  }
  return found;
}

std::uint64_t StateFile::sum(unsigned device) const {
  std::uint64_t total = shared_bytes(device, kMaxSlots);
  for (unsigned i = 0; i < state_->high_slot; ++i) {
    total += state_->slots[i].bytes[device][0] + state_->slots[i].bytes[device][1];
  }
  return total;
}

bool StateFile::alive(unsigned slot) const {
  if (slot_ == static_cast<int>(slot)) return true;
  struct flock lock = byte_lock(F_WRLCK, kSlotLocks + slot);
  return fcntl(file_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool StateFile::alive(const Holder& holder) const {
  return holder.references > 0 && state_->slots[holder.slot].incarnation == holder.incarnation &&
         alive(holder.slot);
}

// With the lock: forgets what dead processes held.
void StateFile::reap() {
  for (unsigned i = 0; i < state_->high_slot; ++i) {
    if (alive(i)) continue;
    for (auto& device : state_->slots[i].bytes) {
      for (auto& bytes : device) bytes = 0;
    }
    state_->slots[i].pid = 0;
  }
  for (Shared& shared : state_->shared) {
    if (shared.id == 0) continue;
    bool held = false;
    for (const Holder& holder : shared.holders) held = held || alive(holder);
    if (!held) shared = {};
  }
}

std::int32_t StateFile::visible_pid(unsigned slot) const {
  const Slot& at = state_->slots[slot];
  if (at.pid_namespace == own_pid_namespace()) return at.pid;
  struct flock lock = byte_lock(F_WRLCK, kPidLocks + slot);
  return fcntl(file_, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0 ? lock.l_pid : 0;
}

std::vector<ProcessBytes> StateFile::processes(unsigned device) {
  std::vector<ProcessBytes> found;
  for (unsigned i = 0; i < state_->high_slot; ++i) {
    if (!alive(i)) continue;
    ProcessBytes process{.pid = visible_pid(i)};
    for (unsigned kind = 0; kind < kKinds; ++kind) process.bytes[kind] = state_->slots[i].bytes[device][kind];
    process.bytes[0] += shared_bytes(device, i);
    process.launches = state_->slots[i].launches[device];
    process.kernel_ns = state_->slots[i].kernel_ns[device];
    if (process.on_device() + process.bytes[2] + process.launches > 0) found.push_back(process);
  }
  return found;
}

std::uint64_t StateFile::used(unsigned device) {
  std::uint64_t total = 0;
  for (const ProcessBytes& process : processes(device)) total += process.on_device();
  return total;
}

std::uint64_t StateFile::own(unsigned device, Kind kind) const {
  const std::uint64_t shared = kind == Kind::kMemory ? shared_bytes(device, static_cast<unsigned>(slot_)) : 0;
  return state_->slots[slot_].bytes[device][static_cast<unsigned>(kind)] + shared;
}

}  // namespace gpupool::fake_cuda
