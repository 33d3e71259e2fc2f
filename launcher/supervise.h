// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

#include "launcher/log_push.h"
#include "launcher/metric_pipe.h"
#include "launcher/metric_server.h"
#include "launcher/notice.h"
#include "launcher/output_relay.h"
#include "launcher/signal_inbox.h"

namespace gpupool::launcher {

struct Ending {
  int wait_status = 0;     // as from waitpid
  int stop_signal = 0;     // the last stop signal from outside the pod before the end; 0: none
  bool forwarded = false;  // a stop signal from outside was sent on to the command before its end
};

// Watches over the running command from its start until nothing of it is left: forwards signals, relays
// output, reaps children, tells its numbers, sends its output, gives it notice. Everything happens on the
// calling thread, in one poll() loop. Not thread-safe. `inbox`, `relay`, `metrics`, `server`, `push` and
// `notice` outlive it.
class Supervisor {
 public:
  // push: null: output is not sent. notice: null: stop signals go to the command at once, without notice.
  // REQUIRES: `command` is a child of this process and leads its own process group.
  Supervisor(pid_t command, SignalInbox& inbox, OutputRelay& relay, MetricPipe& metrics, MetricServer& server,
             LogPush* push, Notice* notice)
      : command_(command),
        inbox_(inbox),
        relay_(relay),
        metrics_(metrics),
        server_(server),
        push_(push),
        notice_(notice) {}

  // Blocks until the end of everything. Calls `ended` once, when the command has ended and its output has
  // been read; the result is stored then. Afterwards waits for processes that the command left behind, as
  // long as stop signals allow, kills them and writes the rest of the output. Calls `in_grace` from the
  // notice until nothing is left: at once, every second, and before it kills.
  void run(const std::function<void(const Ending&)>& ended, std::function<void(const Ending&)> in_grace);

 private:
  void wait_for_command();
  void read_rest();
  void wait_for_group();
  void write_rest();

  // Waits for signals or output, at most `timeout_ms` (negative: for ever), and deals with the signals.
  void step(int timeout_ms);
  void take_signal(const ReceivedSignal& received);
  // False: the notice holds it.
  bool is_forwarded(const ReceivedSignal& stop);
  void forward_due();
  void look_in_grace();
  [[nodiscard]] bool told() const { return notice_ != nullptr && notice_->given(); }
  [[nodiscard]] bool anything_left() const;
  void reap();

  pid_t command_;
  SignalInbox& inbox_;
  OutputRelay& relay_;
  MetricPipe& metrics_;
  MetricServer& server_;
  LogPush* push_;
  Notice* notice_;
  std::function<void(const Ending&)> in_grace_;
  Clock::time_point next_look_{};
  Ending ending_;
  bool command_ended_ = false;
  int stop_signals_ = 0;
};

}  // namespace gpupool::launcher
