// SPDX-License-Identifier: Apache-2.0
#include "push/worker_end.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <sstream>
#include <string_view>

#include "api/worker_result_format.h"
#include "base/json.h"
#include "base/rfc3339.h"
#include "base/unique_fd.h"

namespace gpupool::carry {

namespace format = api::worker_result;

struct StoredResult {
  std::string outcome;
  std::int64_t exit_code = -1;
  std::int64_t stop_signal = 0;
  std::string finished_at;
};

}  // namespace gpupool::carry

namespace gpupool::base::json {
template <>
struct Schema<carry::StoredResult> {
  using T = carry::StoredResult;
  static constexpr auto fields = std::array{field<&T::outcome>(api::worker_result::kOutcomeField),
                                            field<&T::exit_code>(api::worker_result::kExitCodeField),
                                            field<&T::stop_signal>(api::worker_result::kStopSignalField),
                                            field<&T::finished_at>(api::worker_result::kFinishedAtField)};
};
}  // namespace gpupool::base::json

namespace gpupool::carry {
namespace {

std::string path_of(const std::string& directory, std::string_view name) {
  return directory + "/" + std::string(name);
}

}  // namespace

std::optional<WorkerEnd> WorkerWatch::stored_end() const {
  std::ifstream file(path_of(directory_, format::kResultFile));
  std::ostringstream text;
  text << file.rdbuf();
  const auto json = text.str();
  if (json.empty() || json.back() != '}') return std::nullopt;
  const auto result = base::json::read<StoredResult>(json);
  if (!result) return std::nullopt;
  return WorkerEnd{result->outcome == format::kExited && result->exit_code == 0 && result->stop_signal == 0,
                   base::parse_rfc3339(result->finished_at)};
}

bool WorkerWatch::begun() const {
  struct stat info{};
  return ::stat(path_of(directory_, format::kMarkFile).c_str(), &info) == 0;
}

bool WorkerWatch::launcher_lives() const {
  const base::UniqueFd mark(::open(path_of(directory_, format::kMarkFile).c_str(), O_RDONLY | O_CLOEXEC));
  return !mark.valid() || ::flock(mark.get(), LOCK_SH | LOCK_NB) != 0;
}

std::optional<WorkerEnd> WorkerWatch::look(base::SteadyTime now) {
  if (auto end = stored_end()) return end;
  if (!begun() || launcher_lives()) {
    dead_since_.reset();
    return std::nullopt;
  }
  if (!dead_since_) dead_since_ = now;
  return now - *dead_since_ < kResultFollows ? std::nullopt : std::optional(WorkerEnd{});
}

}  // namespace gpupool::carry
