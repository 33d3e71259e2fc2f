// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "base/json.h"
#include "csv/ingest_csv.h"
#include "csv/row_reader.h"
#include "csv/source_file.h"
#include "files/directories.h"
#include "tests/support/temporary_folder.h"

namespace gpupool::carry {

// A folder with CSV files, in which data.csv is made into clean.csv.
class CsvFolder {
 public:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  base::UniqueFd open() const { return std::move(*open_directory(folder_.path())); }
  csv::SourceFile source(const std::string& name) const {
    return std::move(*csv::SourceFile::open(open().get(), name));
  }

  // rules: the JSON of an api::CsvIngestion without `from`.
  Outcome<CsvReport> ingest(std::string_view text, const std::string& rules = "{}",
                            const std::stop_token& stop = {}) const {
    write("data.csv", text);
    auto spec = base::json::read<api::CsvIngestion>(rules);
    EXPECT_TRUE(spec) << rules;
    spec->from = "data.csv";
    SizeBudget budget(std::numeric_limits<std::int64_t>::max());
    return ingest_csv(open().get(), spec->from, "clean.csv", *spec, budget, stop);
  }
  // Returns the text of clean.csv, or the message of the failure.
  std::string cleaned(std::string_view text, const std::string& rules = "{}") const {
    const auto report = ingest(text, rules);
    return report ? read("clean.csv") : report.error().message;
  }

 private:
  test::TemporaryFolder folder_;
};

}  // namespace gpupool::carry
