// SPDX-License-Identifier: Apache-2.0
#include "launcher/options.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "launcher/option_values.h"

namespace gpupool::launcher {
namespace {

constexpr int kMaxNodes = 100'000;
constexpr int kMaxProcessesPerNode = 1024;
constexpr int kMaxTimeoutSeconds = 7 * 24 * 3600;
constexpr int kMaxHoldSeconds = 24 * 3600;

std::vector<OptionName> run_options() {
  return {{"--state-dir"},     {"--termination-log"}, {"--job"},
          {"--attempt"},       {"--pod-name"},        {"--rank"},
          {"--nnodes"},        {"--nproc"},           {"--master-addr"},
          {"--master-port"},   {"--master-timeout"},  {"--hold", true},
          {"--hold-seconds"},  {"--result-bytes"},    {"--metrics"},
          {"--metric-step"},   {"--live-steps"},      {"--live-id"},
          {"--live-port"},     {"--checkpoint-dir"},  {"--notice"},
          {"--grace-seconds"}, {"--resume"},          {"--keeper"},
          {"--keeper-key"},    {"--keeper-id"}};
}

struct Number {
  std::string_view flag;
  int Options::* member;
  int low;
  int high;
};

// In the order in which they are read: errors come out in this order.
constexpr Number kNumbers[] = {
    {"--attempt", &Options::attempt, 0, std::numeric_limits<int>::max()},
    {"--nnodes", &Options::nodes, 1, kMaxNodes},
    {"--nproc", &Options::processes_per_node, 1, kMaxProcessesPerNode},
    {"--master-port", &Options::master_port, 1, 65535},
    {"--master-timeout", &Options::master_timeout_seconds, 0, kMaxTimeoutSeconds},
    {"--live-port", &Options::live_port, 1, 65535},
    {"--hold-seconds", &Options::hold_seconds, 1, kMaxHoldSeconds},
    {"--result-bytes", &Options::result_bytes, kMinResultBytes, kMaxResultBytes},
    {"--grace-seconds", &Options::grace_seconds, 1, std::numeric_limits<int>::max()},
};

// The rank as given, or the ordinal at the end of the pod's name. One worker alone is rank 0 whatever its
// name.
Expected<int> read_rank(const OptionValues& values, int nodes) {
  if (values.has("--rank")) return values.number("--rank", 0, 0, nodes - 1);
  if (nodes == 1) return 0;
  if (!values.has("--pod-name")) return failure("--rank: needed (or --pod-name) when --nnodes is above 1");
  const std::string name = values.text("--pod-name", "");
  const std::size_t dash = name.rfind('-');
  if (dash != std::string::npos) {
    const std::optional<int> rank = parse_number(std::string_view(name).substr(dash + 1));
    if (rank && *rank >= 0 && *rank < nodes) return *rank;
  }
  return failure(flag_error("--pod-name", "'" + name + "' does not end in -<rank> with a rank from 0 to " +
                                              std::to_string(nodes - 1)));
}

// The parts of a list with commas between them; a comma at the end begins no part.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Names with commas between them.
Expected<std::vector<std::string>> read_metrics(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string& name : parts_of(text)) {
    if (name.empty() || name.size() > api::worker_result::kMaxMetricNameBytes ||
        name.find_first_of(" \"\\") != std::string::npos)
      return failure(flag_error("--metrics", "'" + name + "' is no name of a metric"));
    names.push_back(name);
  }
  if (names.size() <= api::worker_result::kMaxMetrics) return names;
  return failure(flag_error("--metrics", "at most " + std::to_string(api::worker_result::kMaxMetrics) +
                                             " names, and there are " + std::to_string(names.size())));
}

// Numbers with commas between them, each greater than the one before.
Expected<std::vector<std::int64_t>> read_live_steps(const std::string& text) {
  std::vector<std::int64_t> steps;
  for (const std::string& part : parts_of(text)) {
    const std::optional<int> step = parse_number(part);
    if (!step || *step < 0 || (!steps.empty() && *step <= steps.back()))
      return failure(flag_error("--live-steps", "'" + text + "' is not a list of ascending numbers"));
    steps.push_back(*step);
  }
  if (steps.size() <= api::live_metrics::kMaxSteps) return steps;
  return failure(flag_error("--live-steps", "at most " + std::to_string(api::live_metrics::kMaxSteps) +
                                                " steps, and there are " + std::to_string(steps.size())));
}

Expected<void> read_checkpoint(const OptionValues& values, Options& options) {
  options.checkpoint_dir = values.text("--checkpoint-dir", "");
  if (values.has("--checkpoint-dir") && !options.checkpoint_dir.starts_with('/'))
    return failure(flag_error("--checkpoint-dir", "'" + options.checkpoint_dir + "' is no absolute path"));
  const std::string notice = values.text("--notice", "signal");
  if (notice != "signal" && notice != "file")
    return failure(flag_error("--notice", "'" + notice + "' is not one of signal, file"));
  options.notice = notice == "file" ? NoticeMode::kFile : NoticeMode::kSignal;
  const Expected<bool> resume = values.boolean("--resume");
  if (!resume) return failure(resume.error());
  options.resume = *resume;
  return {};
}

}  // namespace

Expected<Options> parse_run(const std::vector<std::string>& arguments) {
  OptionValues values(run_options());
  const Expected<std::size_t> command_at = values.read_flags(arguments);
  if (!command_at) return failure(command_at.error());

  Options options;
  for (const Number& number : kNumbers) {
    const Expected<int> value = values.number(number.flag, options.*number.member, number.low, number.high);
    if (!value) return failure(value.error());
    options.*number.member = *value;
  }
  const Expected<bool> hold = values.boolean("--hold");
  if (!hold) return failure(hold.error());
  options.hold = *hold;
  const Expected<int> rank = read_rank(values, options.nodes);
  if (!rank) return failure(rank.error());
  options.node_rank = *rank;

  options.state_dir = values.text("--state-dir", options.state_dir);
  options.termination_log = values.text("--termination-log", options.termination_log);
  options.job = values.text("--job", "");
  Expected<std::vector<std::string>> metrics = read_metrics(values.text("--metrics", ""));
  if (!metrics) return failure(metrics.error());
  options.metrics = *std::move(metrics);
  options.keeper = values.text("--keeper", "");
  options.keeper_key = values.text("--keeper-key", "");
  options.keeper_id = values.text("--keeper-id", "");
  options.metric_step = values.text("--metric-step", options.metric_step);
  Expected<std::vector<std::int64_t>> live_steps = read_live_steps(values.text("--live-steps", ""));
  if (!live_steps) return failure(live_steps.error());
  options.live_steps = *std::move(live_steps);
  options.live_id = values.text("--live-id", "");
  if (!options.live_steps.empty() && options.live_id.empty())
    return failure(flag_error("--live-id", "needed with --live-steps"));
  if (const Expected<void> read = read_checkpoint(values, options); !read) return failure(read.error());
  if (options.nodes > 1 && !values.has("--master-addr")) {
    return failure("--master-addr: needed when --nnodes is above 1");
  }
  options.master_addr = values.text("--master-addr", options.master_addr);
  options.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(*command_at), arguments.end());
  if (options.command.empty()) return failure("no command: write it after --");
  return options;
}

Options report_options(const std::vector<std::string>& arguments) {
  Options options;
  options.termination_log = find_flag(arguments, "--termination-log").value_or(options.termination_log);
  const std::optional<int> bytes = parse_number(find_flag(arguments, "--result-bytes").value_or(""));
  if (bytes && *bytes >= kMinResultBytes && *bytes <= kMaxResultBytes) options.result_bytes = *bytes;
  return options;
}

}  // namespace gpupool::launcher
