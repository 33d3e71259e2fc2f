// SPDX-License-Identifier: Apache-2.0
#include "csv/ingest_csv.h"

#include <utility>
#include <vector>

#include "csv/check_csv.h"
#include "csv/column_rules.h"
#include "csv/decisions.h"
#include "csv/delimiter.h"
#include "csv/header.h"
#include "csv/make_report.h"
#include "csv/report_json.h"
#include "csv/rewriter.h"
#include "csv/row_reader.h"
#include "csv/source_file.h"
#include "csv/survey.h"

namespace gpupool::carry {
namespace {

constexpr int kReadOnly = 0444;
constexpr char kReportSuffix[] = ".report.json";

// One file on its way.
class Ingestion {
 public:
  Ingestion(const csv::SourceFile& source, char delimiter, const std::stop_token& stop)
      : source_(source), delimiter_(delimiter), stop_(stop) {}

  Outcome<void> survey(const api::CsvIngestion& spec) {
    auto rows = reader(csv::kMaxColumns, true);
    const auto header = csv::read_header(rows, source_.name());
    if (!header) return tl::unexpected(header.error());
    if (auto made = csv::make_rules(spec, *header, rules_); !made)
      return failed(made.error().kind, source_.name() + ": " + made.error().message);
    survey_.emplace(rules_);
    if (auto read =
            each(rows, [this](const csv::RowReader& row) { return survey_->add(row), Outcome<void>(); });
        !read)
      return read;
    if (survey_->rows() == 0)
      return failed(FailureKind::kInvalid, source_.name() + ": has a header and no rows");
    if (survey_->kept() == 0) return failed(FailureKind::kInvalid, all_dropped());
    return read_again();
  }

  Outcome<CsvReport> write(OutputFile& to) {
    const auto decisions = csv::decide(rules_, *survey_, source_.name());
    if (!decisions) return tl::unexpected(decisions.error());
    csv::KeptRows kept(rules_, survey_->drops());
    csv::Rewriter rewriter(rules_, *decisions, kept, delimiter_, to);
    auto rows = reader(rules_.columns.size(), false);
    auto written = skip_header(rows)
                       .and_then([&] { return rewriter.write_header(); })
                       .and_then([&] {
                         return each(rows, [&](const csv::RowReader& row) { return rewriter.add(row); });
                       })
                       .and_then([&] { return rewriter.finish(); });
    if (!written) return tl::unexpected(written.error());
    if (rewriter.rows() != survey_->kept())
      return failed(FailureKind::kMismatch, source_.name() + " changed while it was read");
    auto report = csv::make_report(rules_, *survey_, *decisions, rewriter);
    report.delimiter = delimiter_;
    report.passes = passes_;
    return report;
  }

 private:
  Outcome<void> read_again() {
    for (;;) {
      const bool more = survey_->more();
      if (const auto column = survey_->without_mode())
        return failed(FailureKind::kInvalid,
                      source_.name() + ": column " + rules_.columns[*column].name +
                          ": has too many different values for Mode; name another rule "
                          "for it in missing.columns");
      if (!more) return {};
      auto rows = reader(rules_.columns.size(), false);
      const auto add = [this](const csv::RowReader& row) { return survey_->add_again(row), Outcome<void>(); };
      if (auto read = skip_header(rows).and_then([&] { return each(rows, add); }); !read) return read;
    }
  }

  csv::RowReader reader(std::size_t max_fields, bool check_text) {
    ++passes_;
    return {source_, delimiter_, max_fields, check_text, stop_};
  }

  // Calls `take` with each row that is left, then looks whether the file is what it was.
  template <class Take>
  Outcome<void> each(csv::RowReader& rows, const Take& take) {
    for (;;) {
      const auto status = rows.next();
      if (status == csv::RowStatus::kEnd) return source_.check_unchanged();
      if (status == csv::RowStatus::kFailed) return tl::unexpected(rows.failure());
      if (Outcome<void> taken = take(rows); !taken) return taken;
    }
  }

  static Outcome<void> skip_header(csv::RowReader& rows) {
    if (rows.next() == csv::RowStatus::kFailed) return tl::unexpected(rows.failure());
    return {};
  }

  std::string all_dropped() const {
    CsvReport report;
    survey_->drops().report(report);
    const auto& reason = report.reasons.front();
    return source_.name() + ": all " + std::to_string(survey_->rows()) + " rows would be dropped; " +
           reason.text + ": " + std::to_string(reason.rows) + ", the first in line " +
           std::to_string(reason.lines.front());
  }

  const csv::SourceFile& source_;
  char delimiter_;
  std::stop_token stop_;
  csv::Rules rules_;
  std::optional<csv::Survey> survey_;
  std::int64_t passes_ = 0;
};

Outcome<WrittenFile> write_report(int root, const std::string& path, const CsvReport& report,
                                  SizeBudget& budget) {
  auto file = OutputFile::open(root, path, "", budget);
  if (!file) return tl::unexpected(file.error());
  const auto written =
      csv::write_report_json(report, [&](std::string_view text) { return file->write(text); });
  if (!written) return tl::unexpected(written.error());
  return file->commit("", kReadOnly);
}

}  // namespace

Outcome<CsvReport> ingest_csv(int root, const std::string& from, const std::string& to,
                              const api::CsvIngestion& spec, SizeBudget& budget,
                              const std::stop_token& stop) {
  if (auto checked = check_csv(spec); !checked) return tl::unexpected(checked.error());
  const std::string report_path = to + kReportSuffix;
  if (from == to || from == report_path)
    return failed(FailureKind::kInvalid,
                  from + " would be replaced by what is made from it; name another path");
  const auto source = csv::SourceFile::open(root, from);
  if (!source) return tl::unexpected(source.error());
  const auto delimiter = spec.delimiter.empty() ? csv::find_delimiter(*source, stop)
                                                : Outcome<char>(*csv::delimiter_of(spec.delimiter));
  if (!delimiter) return tl::unexpected(delimiter.error());
  Ingestion ingestion(*source, *delimiter, stop);
  if (auto surveyed = ingestion.survey(spec); !surveyed) return tl::unexpected(surveyed.error());
  auto data = OutputFile::open(root, to, "", budget);
  if (!data) return tl::unexpected(data.error());
  auto report = ingestion.write(*data);
  if (!report) return report;
  // The report first: with the file there is always its report.
  auto report_file = write_report(root, report_path, *report, budget);
  if (!report_file) return tl::unexpected(report_file.error());
  auto committed = data->commit("", kReadOnly);
  if (!committed) return tl::unexpected(committed.error());
  report->report = std::move(*report_file);
  report->data = std::move(*committed);
  return report;
}

}  // namespace gpupool::carry
