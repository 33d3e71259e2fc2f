#include "planning/worker_result.h"

#include <array>

#include "base/json.h"

template <>
struct gpupool::base::json::Schema<gpupool::planning::WorkerResult> {
  using T = planning::WorkerResult;
  static constexpr auto fields = std::array{field<&T::version>("version"),
                                            field<&T::attempt>("attempt"),
                                            field<&T::rank>("rank"),
                                            field<&T::outcome>("outcome"),
                                            field<&T::exit_code>("exitCode"),
                                            field<&T::signal>("signal"),
                                            field<&T::stop_signal>("stopSignal"),
                                            field<&T::reason>("reason"),
                                            field<&T::message>("message"),
                                            field<&T::tail>("tail"),
                                            field<&T::finished_at>("finishedAt")};
};

namespace gpupool::planning {

std::optional<WorkerResult> parse_worker_result(const std::string& termination_message) {
  if (termination_message.empty() || termination_message.front() != '{') return std::nullopt;
  auto result = base::json::read<WorkerResult>(termination_message);
  if (!result || result->version < 1 || result->outcome.empty()) return std::nullopt;
  return *std::move(result);
}

}  // namespace gpupool::planning
