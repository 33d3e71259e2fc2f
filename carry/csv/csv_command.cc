// SPDX-License-Identifier: Apache-2.0
#include "csv/csv_command.h"

#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <string_view>

#include "base/json.h"
#include "csv/ingest_csv.h"
#include "csv/short_report.h"
#include "files/directories.h"

namespace gpupool::carry {
namespace {

int complain(const std::string& text, int status) {
  std::fprintf(stderr, "%s\n", text.c_str());
  return status;
}

}  // namespace

int csv_command(std::span<const std::string> arguments, const std::stop_token& stop) {
  std::map<std::string, std::string, std::less<>> options = {{"--spec", ""}, {"--root", ""}, {"--to", ""}};
  for (const auto& argument : arguments) {
    const auto equals = argument.find('=');
    const auto option = options.find(std::string_view(argument).substr(0, equals));
    if (option == options.end() || equals == std::string::npos)
      return complain("unknown argument " + argument + "; use --spec=JSON --root=DIR --to=PATH", 2);
    option->second = argument.substr(equals + 1);
  }
  for (const auto& [name, value] : options)
    if (value.empty()) return complain(name + " is missing; use --spec=JSON --root=DIR --to=PATH", 2);
  const auto spec = base::json::read<api::CsvIngestion>(options["--spec"]);
  if (!spec) return complain("--spec: " + spec.error().message, 2);
  const auto root = open_directory(options["--root"]);
  if (!root) return complain(root.error().message, 1);
  SizeBudget budget(std::numeric_limits<std::int64_t>::max());
  const auto report = ingest_csv(root->get(), spec->from, options["--to"], *spec, budget, stop);
  if (!report) return complain(report.error().message, 1);
  std::printf("%s\n", short_report(*report).c_str());
  return 0;
}

}  // namespace gpupool::carry
