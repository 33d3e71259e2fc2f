// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "launcher/expected.h"
#include "launcher/log_push.h"
#include "launcher/metric_reader.h"
#include "launcher/tail_buffer.h"

namespace gpupool::launcher {

// Carries what the command prints to the launcher's own stdout and stderr, byte for byte, and copies it to a
// TailBuffer and, if there is one, to a LogPush. Never blocks: if the reader outside is slow, the pipes fill
// and slow the command, as they would without a launcher. Called from the Supervisor's poll() loop; not
// thread-safe. `tail`, `metrics` and `push` outlive it.
class OutputRelay {
 public:
  // push: null: nothing is sent.
  OutputRelay(TailBuffer& tail, MetricReader& metrics, LogPush* push)
      : tail_(tail), metrics_(metrics), push_(push) {}

  // Makes the pipes. Where stdout and stderr are the same file there is one pipe, which keeps the order of
  // writes.
  Expected<void> open();

  // What the command gets as stdout and stderr; close_command_ends() once it runs.
  [[nodiscard]] int command_stdout() const { return command_stdout_.get(); }
  [[nodiscard]] int command_stderr() const;
  void close_command_ends();

  // Adds the descriptors that pump() waits for.
  void add_to(std::vector<pollfd>& events) const;

  // Moves what can be moved now.
  void pump();

  // Like pump(), and also reads on while the reader outside is slow, up to a limit far above what a pipe
  // holds: so the tail is complete when the command has ended.
  void pump_ahead();

  [[nodiscard]] bool all_read() const;     // no process holds the other ends any more
  [[nodiscard]] bool all_written() const;  // nothing read is left to write

 private:
  struct Stream {
    base::UniqueFd from;
    int to = -1;
    std::size_t index = 0;
    std::string pending;
    std::size_t written = 0;  // of pending

    [[nodiscard]] std::size_t left() const { return pending.size() - written; }
  };

  Expected<base::UniqueFd> open_stream(int to, std::size_t index);
  void pump(std::size_t read_limit);
  bool read_some(Stream& stream);
  static bool write_some(Stream& stream);

  TailBuffer& tail_;
  MetricReader& metrics_;
  LogPush* push_;
  base::UniqueFd command_stdout_;
  base::UniqueFd command_stderr_;
  std::vector<Stream> streams_;
};

}  // namespace gpupool::launcher
