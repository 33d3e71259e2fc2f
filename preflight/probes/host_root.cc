// SPDX-License-Identifier: Apache-2.0
#include "probes/host_root.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <sstream>

#include "base/read_file.h"
#include "base/unique_fd.h"

namespace gpupool::probes {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel's

void push_front(std::deque<std::string>& parts, const std::filesystem::path& path) {
  std::vector<std::string> added;
  for (const auto& part : path.relative_path()) added.push_back(part.string());
  parts.insert(parts.begin(), added.begin(), added.end());
}

// Connects through the directory's descriptor: a socket address holds 107 characters at most.
bool connects(const std::string& path) {
  const std::filesystem::path whole(path);
  const base::UniqueFd directory(::open(whole.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) return false;
  const std::string name =
      "/proc/self/fd/" + std::to_string(directory.get()) + "/" + whole.filename().string();
  sockaddr_un address{};
  if (name.size() >= sizeof address.sun_path) return false;
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, address.sun_path);
  // Non-blocking: a server that accepts nothing lets its queue run full.
  const base::UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return client.get() >= 0 &&
         ::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

HostRoot::HostRoot(std::string root) : root_(std::move(root)) {
  while (root_.ends_with('/')) root_.pop_back();
}

std::string HostRoot::path(const std::string& on_machine) const {
  std::deque<std::string> left;
  push_front(left, on_machine);
  std::filesystem::path done("/");
  for (int links = 0; !left.empty();) {
    const std::string part = std::move(left.front());
    left.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      done = done.parent_path();
      continue;
    }
    std::error_code none;
    const auto target = std::filesystem::read_symlink(root_ + (done / part).string(), none);
    if (none || ++links > kMaxLinks) {
      done /= part;
      continue;
    }
    if (target.is_absolute()) done = "/";
    push_front(left, target);
  }
  return root_ + done.string();
}

bool HostRoot::exists(const std::string& on_machine) const {
  std::error_code none;
  return std::filesystem::exists(path(on_machine), none);
}

std::optional<std::string> HostRoot::read(const std::string& on_machine) const {
  auto text = base::read_file(path(on_machine));
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

std::string HostRoot::line(const std::string& on_machine) const {
  std::istringstream text(read(on_machine).value_or(""));
  std::string first;
  std::getline(text, first);
  return base::trimmed(first);
}

std::vector<std::string> HostRoot::names(const std::string& on_machine) const {
  std::vector<std::string> names;
  std::error_code none;
  for (std::filesystem::directory_iterator at(path(on_machine), none), end; !none && at != end;
       at.increment(none)) {
    names.push_back(at->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

checks::UnixSocket HostRoot::socket(const std::string& on_machine) const {
  const std::string here = path(on_machine);
  struct stat seen{};
  if (::stat(here.c_str(), &seen) != 0) return {};
  return {.exists = true, .answers = S_ISSOCK(seen.st_mode) && connects(here)};
}

}  // namespace gpupool::probes
