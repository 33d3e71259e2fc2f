// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/live_metrics_format.h"
#include "launcher/expected.h"
#include "launcher/notice.h"
#include "launcher/result.h"

namespace gpupool::launcher {

// What `run` was asked to do. Ranks and counts have been checked against each other.
struct Options {
  std::string state_dir = "/gpupool";
  std::string termination_log = "/dev/termination-log";
  std::string job;
  int attempt = 0;
  int node_rank = 0;
  int nodes = 1;
  int processes_per_node = 1;
  std::string master_addr = "localhost";
  int master_port = 29500;
  int master_timeout_seconds = 600;  // 0: ranks above 0 do not wait
  bool hold = false;
  int hold_seconds = 10;  // the least, with hold
  int result_bytes = kMaxResultBytes;
  std::vector<std::string> metrics;  // names of numbers that rank 0 reports
  std::string metric_step = "step";
  std::vector<std::int64_t> live_steps;  // ascending; at these, rank 0 tells the numbers to whoever asks
  std::string live_id;                   // only to whoever knows this
  int live_port = api::live_metrics::kPort;
  std::string checkpoint_dir;  // empty: the command saves no checkpoints, and the next three do not count
  NoticeMode notice = NoticeMode::kSignal;
  int grace_seconds = 30;  // from a stop signal to the end of the container
  bool resume = false;     // an earlier attempt may have saved a checkpoint
  std::string keeper;      // IP:PORT to which output is sent; empty: nowhere, and the next two do not count
  std::string keeper_key;  // id of the key that the token was made with
  std::string keeper_id;   // NAMESPACE/JOBUID/N/POOL: whose output it is
  std::vector<std::string> command;
};

// Reads the arguments after `run`: flags, "--", the command. Nothing is read from the environment: a pod's
// `envFrom` may set anything there. (The token for the keeper is there, because arguments are seen by `ps`;
// without --keeper it does not count.) Errors name the flag.
Expected<Options> parse_run(const std::vector<std::string>& arguments);

// Where a result goes and how long it may be, as far as that can be read of arguments that parse_run refuses.
Options report_options(const std::vector<std::string>& arguments);

}  // namespace gpupool::launcher
