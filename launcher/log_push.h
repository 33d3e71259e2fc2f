// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>
#include <poll.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/log_push_format.h"
#include "base/unique_fd.h"
#include "launcher/deadline.h"
#include "launcher/expected.h"
#include "launcher/log_spool.h"

namespace gpupool::launcher {

// Where output is sent, and as whose.
struct PushTarget {
  sockaddr_in6 address{};  // an IPv4 address is mapped
  std::string key;         // id of the key that the token was made with
  std::string token;       // 64 hex digits
  std::string ns;
  std::string uid;         // of the job
  std::int64_t lease = 0;  // n of the lease's id
  int attempt = 0;         // for people
  std::string pool;
  std::string job;
  int rank = 0;
  int ranks = 1;
};

// "IP:PORT", an IPv6 address in brackets. Nothing for anything else: names are not looked up.
std::optional<sockaddr_in6> parse_address(const std::string& text);

// Sends what the command prints to the keeper (lib/api/log_push_format.h). Nothing waits for it: what cannot
// be sent stays in the spool, and what does not fit there is dropped and counted. Called from the
// Supervisor's poll() loop; not thread-safe.
class LogPush {
 public:
  explicit LogPush(PushTarget target) : target_(std::move(target)) {}

  // spool: its path. If it cannot be used, nothing is sent, and the other functions do nothing.
  Expected<void> open(const std::string& spool);

  // Whether an earlier launcher of this worker could not send everything. If not, nothing is to be done in a
  // launcher that does not run the command.
  [[nodiscard]] bool has_rest() const { return spool_.taken_up(); }
  // Nothing is sent any more.
  void give_up();

  void append(std::size_t stream, std::string_view bytes);

  void add_to(std::vector<pollfd>& events) const;
  // When pump() is to be called although no descriptor is ready.
  [[nodiscard]] std::optional<Clock::time_point> due() const;
  // Does what can be done now.
  void pump();

  // The command has ended: sends the rest and its end, for at most `limit`. What could not be sent stays in
  // the spool, for a launcher that is started again. outcome, exit_code: as in the result.
  void finish(std::string_view outcome, int exit_code, std::chrono::milliseconds limit);

 private:
  using Message = api::log_push::Message;
  enum class State { kIdle, kConnecting, kHello, kAuth, kOpen, kEnding, kDone };

  void connect();
  void connected();
  void disconnect();
  bool receive();
  bool take(Message type, std::string_view payload);
  bool take_have(std::string_view payload);
  void fill();
  void skip_to_last_bytes();
  bool flush();
  [[nodiscard]] bool wants_to_send() const;
  [[nodiscard]] bool is_collecting() const;
  [[nodiscard]] std::string hello() const;

  PushTarget target_;
  LogSpool spool_;
  State state_ = State::kIdle;
  base::UniqueFd socket_;
  Clock::time_point retry_at_{};
  Clock::time_point begun_{};  // the connection
  std::chrono::milliseconds pause_{1000};
  std::uint64_t granted_ = 0;                       // position up to which the keeper takes output
  LogSpool::Place sent_;                            // what is before it was sent on this connection
  std::optional<Clock::time_point> waiting_since_;  // for more, so that frames are not small
  std::string in_;
  std::string out_;
  std::string end_;  // JSON; empty: the command runs
};

}  // namespace gpupool::launcher
