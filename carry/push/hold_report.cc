// SPDX-License-Identifier: Apache-2.0
#include "push/hold_report.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "files/directories.h"
#include "files/output_file.h"
#include "files/size_budget.h"
#include "reporting/termination_log.h"

namespace gpupool::carry {
namespace {

constexpr char kReport[] = "results-report.json";
constexpr std::int64_t kMostHeldBytes = 1 << 20;
constexpr base::Duration kLeast = std::chrono::seconds(10);
constexpr base::Duration kMost = std::chrono::hours(24);

std::string path_in(const std::string& directory) { return directory + "/" + kReport; }

}  // namespace

Outcome<void> store_report(const std::string& directory, const std::string& text) {
  const auto opened = open_directory(directory);
  if (!opened) return tl::unexpected(opened.error());
  SizeBudget budget(kMostHeldBytes);
  auto file = OutputFile::open(opened->get(), kReport, "", budget);
  if (!file) return tl::unexpected(file.error());
  if (auto written = file->write(text); !written) return written;
  if (auto done = file->commit(""); !done) return tl::unexpected(done.error());
  return {};
}

bool repeat_report(const std::string& directory, const std::string& termination_log) {
  std::ifstream file(path_in(directory));
  if (!file) return false;
  std::ostringstream text;
  text << file.rdbuf();
  return write_termination_log(termination_log, text.str()).has_value();
}

void hold_report(const std::string& directory, base::Clock& clock, std::stop_token stop) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(path_in(directory), error);
  const auto age = error ? base::Duration::zero()
                         : std::chrono::duration_cast<base::Duration>(
                               std::filesystem::file_time_type::clock::now() - written);
  clock.sleep_for(std::clamp(age, kLeast, kMost), std::move(stop));
}

}  // namespace gpupool::carry
