// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/result.h"
#include "worker_logs/worker_pod.h"

// When to open the log of a worker, how, and when all of it was read. Pure.
//
// The end of a stream never counts as the end of the log: a server sends the same end when it loses its
// connection to the node. A log is complete when its container has ended and a log that was opened after that
// brought nothing new.
namespace gpupool::logs {

// What is known of a worker. known == false: its pod was not seen yet.
struct WorkerFacts {
  bool known = false;
  bool gone = false;      // its pod was deleted
  bool job_over = false;  // no worker starts any more
  WorkerState state = {};
  bool operator==(const WorkerFacts&) const = default;
};

// How the last stream ended.
enum class StreamEnd {
  kNone,     // there was none
  kEnded,    // by the server
  kCut,      // the connection was lost, or the server failed
  kSilent,   // no byte for long
  kWaiting,  // refused, because the container does not run yet
  kNoLog,    // refused or answered by the kubelet: it has no log of this container any more
  kStopped,  // by us, because the container was started again
};

struct ReaderMemory {
  StreamEnd last = StreamEnd::kNone;
  bool previous = false;        // the last stream was that of the previous container
  bool after_end = false;       // the last stream was opened when the container had ended
  bool read_after_end = false;  // some such stream had an end, and was surely of the right container
  bool ended = false;           // the last stream that brought a log had an end, or fell silent
  bool broken = false;          // a stream was cut, and none since has brought what was seen or what is new
  bool brought_new = false;     // the last stream brought lines that were not seen before
  bool repeats = false;         // the container was started again, although its status does not say so yet
  // Somebody answered that there is no such pod: the server, or a kubelet that has just been started and does
  // not know its pods yet. Then the other members are of the stream before.
  bool not_found = false;
  int fruitless = 0;         // streams in a row that brought nothing new
  std::string problem = {};  // of the last stream, for people
};

struct Open {
  bool previous = false;
  bool follow = false;
  std::chrono::milliseconds after{0};    // wait so long before
  std::chrono::milliseconds silence{0};  // give up a stream that brings no byte for so long
};
struct Wait {};  // until the facts change
struct Done {
  std::string note = {};  // for people; empty: the log is complete
};
using Step = std::variant<Open, Wait, Done>;

// follow: read what comes later, and try for ever. Else read what there is.
Step next_step(const WorkerFacts& facts, const ReaderMemory& memory, bool follow);

// What an error of a log request means. REQUIRES: its code is not kNotFound.
StreamEnd end_of(const base::Error& error, bool previous);

}  // namespace gpupool::logs
