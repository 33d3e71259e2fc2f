// SPDX-License-Identifier: Apache-2.0
#include "enforcement/region_use.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "base/unique_fd.h"
#include "limiter/region/view.h"

namespace gpupool::enforcement {
namespace {

using limiter::Region;
using limiter::State;

static_assert(kClassNames.size() == limiter::kClasses);

constexpr std::pair<std::uint32_t, const char*> kReasons[] = {{State::kNoLimits, "NoLimits"},
                                                              {State::kBadLimits, "BadLimits"},
                                                              {State::kNoSlot, "NoSlot"},
                                                              {State::kLockLost, "LockLost"},
                                                              {State::kUnknownDevice, "UnknownDevice"},
                                                              {State::kUnmeasured, "Unmeasured"},
                                                              {State::kUnknownNames, "UnknownNames"},
                                                              {State::kNoRegion, "NoRegion"},
                                                              {State::kWrongRegion, "WrongRegion"},
                                                              {State::kDamaged, "Damaged"},
                                                              {State::kSlotLost, "SlotLost"}};

tl::unexpected<base::Error> failed_at(const char* what, const std::string& path) {
  const auto code = errno == ENOENT ? base::ErrorCode::kNotFound : base::ErrorCode::kIo;
  return base::fail(
      code, "cannot " + std::string(what) + " " + path + ": " + std::generic_category().message(errno));
}

// Only as much as is there is read: the file may be cut short meanwhile.
bool read_whole(int fd, std::span<std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto got = ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

RegionDeviceUse device_use(const limiter::view::DeviceView& view, bool waits) {
  RegionDeviceUse use;
  std::copy(view.classes.begin(), view.classes.end(), use.bytes.begin());
  use.pending_bytes = view.pending;
  use.refusals = view.refusals;
  use.peak_bytes = view.peak;
  use.waits = view.waits;
  use.waiting_bytes = waits ? view.waiting_bytes : 0;  // of a process that has died meanwhile
  use.waiting_since = view.waiting_since;
  use.wait_ticket = view.wait_ticket;
  use.refused_ticket = view.refused_ticket;
  return use;
}

RegionUse region_use(const limiter::view::RegionView& view, int fd) {
  RegionUse use;
  for (unsigned i = 0; i < view.device_count; ++i) {
    use.devices.push_back(device_use(view.devices[i], limiter::view::wait_alive(fd, i)));
  }
  for (const auto& [bit, reason] : kReasons) {
    if ((view.state & bit) != 0) use.reasons.emplace_back(reason);
  }
  use.processes = view.slot_count;
  use.unknown_calls = view.unknown_calls;
  for (const auto& name : view.unknown_names) {
    if (name[0] == '\0') break;
    use.unknown_names.emplace_back(name.data());
  }
  return use;
}

base::Result<base::UniqueFd> open_region(const std::string& path, int flags) {
  base::UniqueFd file(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return failed_at("open", path);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return failed_at("read", path);
  if (S_ISREG(status.st_mode)) return file;
  return base::fail(base::ErrorCode::kParse, path + " is no file");
}

}  // namespace

base::Result<RegionUse> read_region(const std::string& path, base::Duration patience) {
  const auto file = open_region(path, O_RDONLY);
  if (!file) return tl::unexpected<base::Error>(file.error());
  const auto bytes = std::make_unique<std::array<std::byte, sizeof(Region)>>();
  if (!read_whole(file->get(), *bytes)) {
    return base::fail(base::ErrorCode::kParse, path + " is shorter than a region");
  }
  const auto deadline = std::chrono::steady_clock::now() + patience;
  bool late = false;
  const auto view = limiter::view::read(*bytes, [&](unsigned slot) {
    late = late || std::chrono::steady_clock::now() >= deadline;
    return !late && limiter::view::slot_alive(file->get(), slot);
  });
  if (late) {
    return base::fail(base::ErrorCode::kTimeout, "it takes too long to ask for the locks of " + path);
  }
  if (view) return region_use(*view, file->get());
  return base::fail(base::ErrorCode::kParse, path + " is no region of this version of the limiter");
}

bool anybody_waits(const std::string& path) {
  const auto file = open_region(path, O_RDONLY);
  if (!file) return false;
  std::array<std::byte, limiter::kRegionHead> head{};
  if (!read_whole(file->get(), head)) return false;
  const auto view = limiter::view::read(head);
  return view && std::any_of(view->devices.begin(), view->devices.begin() + view->device_count,
                             [](const auto& device) { return device.waiting_bytes > 0; });
}

base::Result<void> refuse_wait(const std::string& path, std::size_t device, std::uint64_t ticket) {
  const auto file = open_region(path, O_WRONLY);
  if (!file) return tl::unexpected<base::Error>(file.error());
  const auto offset = limiter::view::refused_ticket_offset(static_cast<unsigned>(device));
  if (::pwrite(file->get(), &ticket, sizeof ticket, static_cast<off_t>(offset)) == sizeof ticket) return {};
  return failed_at("write", path);
}

std::uint64_t RegionDeviceUse::used_bytes() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t one : bytes) sum = limiter::add_up(sum, one);
  return sum;
}

std::uint64_t RegionDeviceUse::counted_bytes() const { return limiter::add_up(used_bytes(), pending_bytes); }

}  // namespace gpupool::enforcement
