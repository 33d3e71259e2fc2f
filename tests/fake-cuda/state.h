// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpupool::fake_cuda {

// The state file: what each process holds of each GPU of the pretended machine. It stands for the hardware,
// so it is the truth that a limiter is compared with. A process owns a slot for as long as it lives: it holds
// an open-file-description lock on it, which the kernel gives back at its end.

inline constexpr unsigned kMaxDevices = 16;
inline constexpr unsigned kMaxSlots = 1024;
inline constexpr unsigned kMaxShared = 512;
inline constexpr unsigned kMaxHolders = 8;

// What bytes are for. Managed memory is pageable: it takes nothing of the GPU and counts for no process in
// NVML.
enum class Kind : unsigned { kMemory, kContext, kManaged };
inline constexpr unsigned kKinds = 3;

struct Slot {
  std::atomic<std::uint64_t> incarnation;  // grows with each owner
  std::atomic<std::int32_t> pid;           // in the owner's PID namespace
  std::atomic<std::uint64_t> pid_namespace;
  std::atomic<std::uint64_t> bytes[kMaxDevices][kKinds];
  std::atomic<std::uint64_t> launches[kMaxDevices];
  std::atomic<std::uint64_t> kernel_ns[kMaxDevices];  // of simulated time
};

struct Holder {
  std::uint32_t slot;
  std::uint32_t references;  // 0: none
  std::uint64_t incarnation;
};

// Memory that several processes hold. The first holder that lives is charged for it.
struct Shared {
  std::uint64_t id;  // 0: free
  std::uint32_t device;
  std::uint64_t bytes;
  Holder holders[kMaxHolders];
};

// A failure that a test asks for: of whoever calls the function of this name next, after `skip` good calls.
struct Asked {
  std::atomic<std::uint32_t> left;  // calls that are to fail
  std::atomic<std::uint32_t> skip;
  std::atomic<std::int32_t> code;
  char name[52];
};

// The last kernel that anybody launched: by which function, and its arguments in their order.
struct Launch {
  static constexpr unsigned kArguments = 12;
  char name[48];
  std::uint64_t arguments[kArguments];
};

struct State {
  std::uint64_t magic;
  std::uint64_t layout;
  std::atomic<std::uint32_t> high_slot;
  std::uint64_t next_shared;
  char uuids[kMaxDevices][64];
  Asked asked;
  Launch last_launch;
  Shared shared[kMaxShared];
  Slot slots[kMaxSlots];
};

struct ProcessBytes {
  std::int32_t pid = 0;  // in the caller's PID namespace; 0 if it is not visible there
  std::uint64_t bytes[kKinds] = {};
  std::uint64_t launches = 0;
  std::uint64_t kernel_ns = 0;
  std::uint64_t on_device() const { return bytes[0] + bytes[1]; }
};

// One process's access to the state file. Not thread-safe, except that readers may run beside one writer.
class StateFile {
 public:
  StateFile() = default;
  ~StateFile();
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  // The file that the environment names: GPUPOOL_FAKE_CUDA_STATE, or GPUPOOL_FAKE_NVML with ".cuda" behind
  // it.
  static std::string default_path();

  // Maps the file; `create` makes it if need be. False: it cannot be had (errno says why).
  bool open(const std::string& path, bool create);
  bool is_open() const { return state_ != nullptr; }
  // Takes a slot for this process.
  bool attach();
  // In a forked child: the slot stays the parent's.
  void forget();

  // The position of a GPU or MIG device in the file; -1: not there (and not to be made).
  int device(const std::string& uuid, bool create);

  // Adds bytes to this process's slot if the device has room for them: `capacity` is what all processes may
  // hold.
  bool charge(unsigned device, Kind kind, std::uint64_t bytes, std::uint64_t capacity);
  void count_launch(unsigned device, std::uint64_t kernel_ns);
  void discharge(unsigned device, Kind kind, std::uint64_t bytes);

  // Makes `bytes` of this process's kMemory shared memory; 0: the table is full.
  std::uint64_t share(unsigned device, std::uint64_t bytes);
  // One more or less reference of this process. False: nobody holds it.
  bool hold(std::uint64_t id);
  void drop(std::uint64_t id);

  // state_asked.cc: what tests ask of the driver. The next call of `name` after `skip` good ones fails with
  // `code`; a null name: none.
  void ask(const char* name, int code, unsigned skip = 0);
  std::optional<int> asked(std::string_view name);
  bool is_asked() const {
    return state_->asked.left.load(std::memory_order_acquire) != 0;
  }  // not happened yet
  void note_launch(const char* name, std::initializer_list<std::uint64_t> arguments);
  const Launch& last_launch() const { return state_->last_launch; }

  // The UUIDs of all GPUs and MIG devices that were used, by position.
  std::vector<std::string> uuids() const;
  std::vector<ProcessBytes> processes(unsigned device);
  std::uint64_t used(unsigned device);
  std::uint64_t own(unsigned device, Kind kind) const;

 private:
  class Lock;
  friend class Lock;

  bool alive(unsigned slot) const;
  bool alive(const Holder& holder) const;
  // Bytes of shared memory for which `slot` is charged; kMaxSlots: those for which anybody is.
  std::uint64_t shared_bytes(unsigned device, unsigned slot) const;
  std::uint64_t sum(unsigned device) const;  // of all slots, also dead ones
  void reap();
  std::int32_t visible_pid(unsigned slot) const;
  Shared* find_shared(std::uint64_t id);
  Holder* own_holder(Shared& shared);

  int file_ = -1;  // holds the locks
  State* state_ = nullptr;
  int slot_ = -1;
};

}  // namespace gpupool::fake_cuda
