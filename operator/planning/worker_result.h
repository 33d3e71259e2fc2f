#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gpupool::planning {

// What gpupool-launch leaves in a worker's termination message (design section 6).
struct WorkerResult {
  std::int64_t version = 0;
  std::int64_t attempt = 0;
  std::int64_t rank = 0;
  std::string outcome;  // exited, signaled, notStarted, interrupted
  std::int64_t exit_code = 0;
  std::int64_t signal = 0;
  std::int64_t stop_signal = 0;  // the launcher was told to stop before the command ended
  std::string reason;
  std::string message;
  std::string tail;  // the last lines the command printed
  std::string finished_at;

  bool interrupted() const { return outcome == "interrupted"; }
  bool succeeded() const { return outcome == "exited" && exit_code == 0; }
};

// Nothing if the message is not a result of ours. Of one that the kubelet has cut, because more containers
// share its room than were known when the pod was made, what is whole, if it tells how the command ended.
std::optional<WorkerResult> parse_worker_result(const std::string& termination_message);

}  // namespace gpupool::planning
