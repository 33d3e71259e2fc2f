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

namespace {

// The fields of an object that was cut off which are whole, as an object; empty if it cannot be told how the
// command ended. The launcher writes outcome, exitCode, signal and stopSignal first, then attempt.
std::string whole_part(const std::string& cut) {
  std::size_t comma = std::string::npos;
  bool in_text = false;
  int depth = 0;
  for (std::size_t i = 0; i < cut.size(); ++i) {
    const char c = cut[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
      continue;
    }
    if (c == '"') in_text = true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c == ',' && depth == 1) comma = i;
  }
  if (comma == std::string::npos) return {};
  auto part = cut.substr(0, comma);
  for (const char* key : {"\"outcome\":", "\"exitCode\":", "\"attempt\":"}) {
    if (part.find(key) == std::string::npos) return {};
  }
  return part + "}";
}

}  // namespace

std::optional<WorkerResult> parse_worker_result(const std::string& termination_message) {
  if (termination_message.empty() || termination_message.front() != '{') return std::nullopt;
  auto result = base::json::read<WorkerResult>(termination_message);
  if (!result) {
    const auto part = whole_part(termination_message);
    if (part.empty()) return std::nullopt;
    result = base::json::read<WorkerResult>(part);
  }
  if (!result || result->version < 1 || result->outcome.empty()) return std::nullopt;
  return *std::move(result);
}

}  // namespace gpupool::planning
