// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "files/output_file.h"

namespace gpupool::carry {

// The numbers of a column, as far as they are not missing. Without any, all are 0.
struct CsvNumbers {
  std::int64_t count = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
};

struct CsvColumnReport {
  std::string name;
  std::string type;          // one of api::csv_type, of the values that were written
  std::string rule;          // one of api::csv_missing, or Constant
  std::int64_t missing = 0;  // among the rows that were kept
  std::int64_t imputed = 0;  // of those
  std::string value;         // with which they were imputed
  std::string lower;         // the bounds, as numbers; empty: none
  std::string upper;
  std::int64_t clipped_low = 0;
  std::int64_t clipped_high = 0;
  CsvNumbers before;  // of a column of numbers: before imputing
  CsvNumbers after;   // and as written
  std::string note;   // why a rule was not applied
};

// One reason for which rows were dropped.
struct CsvDropReason {
  std::string text;  // "label missing"
  std::int64_t rows = 0;
  std::vector<std::int64_t> lines;  // the first few, counted from 1
};

struct CsvDroppedRow {
  std::int64_t line = 0;  // where the row begins
  std::string reason;
};

struct CsvReport {
  std::string delimiter;
  std::int64_t rows_in = 0;  // without the header
  std::int64_t rows_out = 0;
  std::int64_t rows_dropped = 0;
  std::vector<CsvDroppedRow> first_dropped;  // at most 10
  std::vector<CsvDropReason> reasons;
  std::vector<CsvColumnReport> columns;
  std::int64_t passes = 0;  // how often the file was read
  WrittenFile data;
  WrittenFile report;
};

}  // namespace gpupool::carry
