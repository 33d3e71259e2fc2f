// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/workload/trace.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include "bench/fair/workload/throughputs.h"

namespace gpupool::bench::fair {
namespace {

using base::ErrorCode;
using Fields = std::vector<std::string_view>;

constexpr double kMost = 1e15;  // steps or seconds; more is a mistake in the file

base::Result<std::string> read(const std::string& path) {
  std::ifstream file(path);
  std::error_code unknown;
  if (!file || std::filesystem::is_directory(path, unknown))
    return base::fail(ErrorCode::kIo, "cannot read " + path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Fields split(std::string_view line, char separator) {
  Fields fields;
  for (std::size_t from = 0; from <= line.size();) {
    const auto end = std::min(line.find(separator, from), line.size());
    fields.push_back(line.substr(from, end - from));
    from = end + 1;
  }
  return fields;
}

// From 0 to kMost.
std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value >= 0 && value <= kMost ? std::optional(value) : std::nullopt;
}

// From 1 to a million.
std::optional<std::int64_t> gpu_count(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value >= 1 && value <= 1'000'000 ? std::optional(value) : std::nullopt;
}

struct Line {
  std::string tenant;
  Job job;
};

// type, command, flag, needs data, steps, arrival, GPUs
base::Result<Line> gavel_line(const Fields& fields, const std::string& tenant, const Throughputs& known) {
  if (fields.size() != 7)
    return base::fail(ErrorCode::kParse, std::to_string(fields.size()) + " fields instead of 7");
  const auto steps = number(fields[4]);
  const auto arrival = number(fields[5]);
  const auto gpus = gpu_count(fields[6]);
  if (!steps || !arrival || !gpus)
    return base::fail(ErrorCode::kParse, "steps, arrival and GPUs have to be numbers");
  const auto speed = known.steps_per_second(std::string(fields[0]), *gpus);
  if (!speed) return base::fail(ErrorCode::kParse, "no throughput is known of " + std::string(fields[0]));
  const auto seconds = std::min(kMost, std::ceil(*steps / *speed));
  return Line{tenant, Job{.arrival = static_cast<Seconds>(*arrival),
                          .gpus = *gpus,
                          .seconds = std::max<Seconds>(1, static_cast<Seconds>(seconds))}};
}

base::Result<Line> csv_line(const Fields& fields) {
  if (fields.size() != 4)
    return base::fail(ErrorCode::kParse, std::to_string(fields.size()) + " fields instead of 4");
  const auto arrival = number(fields[1]);
  const auto gpus = gpu_count(fields[2]);
  const auto seconds = number(fields[3]);
  if (fields[0].empty() || !arrival || !gpus || !seconds)
    return base::fail(ErrorCode::kParse, "want tenant,arrival,gpus,seconds");
  return Line{std::string(fields[0]), Job{.arrival = static_cast<Seconds>(*arrival),
                                          .gpus = *gpus,
                                          .seconds = std::max<Seconds>(1, static_cast<Seconds>(*seconds))}};
}

class Reader {
 public:
  explicit Reader(const TraceOptions& options) : options_(options) {}

  base::Result<void> read_throughputs() {
    if (options_.throughputs.empty()) return {};
    const auto text = read(options_.throughputs);
    if (!text) return tl::unexpected(text.error());
    auto parsed = Throughputs::parse(*text, options_.device);
    if (!parsed) return base::in_context(parsed.error(), options_.throughputs);
    throughputs_ = *std::move(parsed);
    return {};
  }

  base::Result<void> read_file(const std::string& path) {
    const std::filesystem::path name(path);
    const bool csv = name.extension() == ".csv";
    if (!csv && name.extension() != ".trace")
      return base::fail(ErrorCode::kInvalidArgument, path + " is neither a .trace nor a .csv file");
    if (!csv && !throughputs_)
      return base::fail(ErrorCode::kInvalidArgument,
                        path + " has steps, not times: --throughputs is missing");
    const auto text = read(path);
    if (!text) return tl::unexpected(text.error());
    std::size_t count = 0;
    for (const auto line : split(*text, '\n')) {
      ++count;
      if (line.empty() || (csv && count == 1 && line == "tenant,arrival,gpus,seconds")) continue;
      auto parsed = csv ? csv_line(split(line, ','))
                        : gavel_line(split(line, '\t'), name.stem().string(), *throughputs_);
      if (!parsed) return base::in_context(parsed.error(), path + ":" + std::to_string(count));
      take(*std::move(parsed));
    }
    return {};
  }

  Workload workload(std::int64_t gpus) const {
    Workload found{.gpus = gpus, .tenants = {}, .jobs = {}};
    for (const auto& [tenant, jobs] : jobs_) {
      if (static_cast<std::int64_t>(jobs.size()) < options_.fewest_jobs) continue;
      for (auto job : jobs) {
        job.tenant = found.tenants.size();
        found.jobs.push_back(job);
      }
      found.tenants.push_back(Tenant{.name = tenant});
    }
    return found;
  }

 private:
  void take(Line line) {
    if (line.job.arrival >= options_.days * kDay) return;
    line.job.seconds = std::min(line.job.seconds, options_.longest);
    jobs_[line.tenant].push_back(line.job);
  }

  const TraceOptions& options_;
  std::optional<Throughputs> throughputs_;
  std::map<std::string, std::vector<Job>> jobs_;  // by tenant
};

}  // namespace

base::Result<Workload> read_traces(const TraceOptions& options, std::int64_t gpus) {
  Reader reader(options);
  if (auto done = reader.read_throughputs(); !done) return tl::unexpected(done.error());
  for (const auto& file : options.files) {
    if (auto done = reader.read_file(file); !done) return tl::unexpected(done.error());
  }
  return reader.workload(gpus);
}

}  // namespace gpupool::bench::fair
