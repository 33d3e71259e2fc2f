#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gpupool::kube {

// Owns a descriptor.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() { reset(-1); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  int get() const { return fd_; }
  void reset(int fd) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_;
};

struct Child {
  pid_t pid = -1;  // also its process group; the owner waits for it
  Fd out;          // what it writes; does not block
  Fd err;
};

// Starts a program in a process group of its own: stdin empty, both outputs piped, default signals, no other
// descriptor of ours (they are all close-on-exec). kNotFound: no such program.
base::Result<Child> spawn(const std::vector<std::string>& argv,
                          const std::vector<std::pair<std::string, std::string>>& env);

}  // namespace gpupool::kube
