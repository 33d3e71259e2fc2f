// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/log_push_format.h"
#include "base/unique_fd.h"

namespace gpupool::keeper {

struct Received {
  api::log_push::Message type;
  std::string_view payload;  // valid until the next call of the connection
};

// A socket that messages are read from and written to. Never waits. One thread.
class Connection {
 public:
  // socket: not blocking.
  explicit Connection(base::UniqueFd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }

  // Reads what has come, at most 64 KiB. False: the other side is gone.
  bool read();
  // The next whole message. `longest`: of its payload; a longer one sets too_long().
  std::optional<Received> next(std::size_t longest);
  bool too_long() const { return too_long_; }

  void send(api::log_push::Message type, std::string_view payload);
  // Writes what can be written now. False: the other side is gone.
  bool flush();
  bool flushed() const { return out_.empty(); }

 private:
  base::UniqueFd socket_;
  std::string in_;
  std::size_t used_ = 0;  // of in_
  std::string out_;
  bool too_long_ = false;
};

}  // namespace gpupool::keeper
