// SPDX-License-Identifier: Apache-2.0
#include "bills/ledger_report.h"

#include <nlohmann/json.hpp>

#include "base/month.h"
#include "command/exit_code.h"
#include "command/ledger.h"
#include "objects/output.h"
#include "screen/plain_text.h"

namespace gpupool::bills {
namespace {

// Says what to do where there is no way to the ledger. Other errors stay as they are.
base::Error told_of(const base::Error& error) {
  base::Error told = error;
  if (!command::no_way_to_ledger(error)) return told;
  if (error.code == base::ErrorCode::kNotFound)
    told.message = "this cluster has no ledger under that name that people can ask (docs/billing.md)";
  if (error.code == base::ErrorCode::kForbidden)
    told.message +=
        "; this cluster has no ledger that people can ask, or you may not reach it: see ledger.tlsSecret "
        "and ledger.proxyReaders of the chart (docs/billing.md)";
  return told;
}

// report: JSON.
std::string json_of(const std::string& report) {
  return std::string(R"({"apiVersion":")") + objects::kOutputVersion +
         R"(","kind":"LedgerReport","report":)" + report + "}";
}

}  // namespace

void add_report_flags(command::Flags& flags, ReportOptions& options) {
  flags.text("--month", options.month, "MONTH", "By the books, in UTC, such as 2026-11");
  command::add_ledger_flag(flags, options.ledger);
}

base::Result<int> show_report(const std::string& path, const ReportOptions& options,
                              command::Context& context) {
  if (!options.month.empty() && !base::parse_month(options.month))
    return base::fail(base::ErrorCode::kInvalidArgument, "--month: \"" + screen::plain_text(options.month) +
                                                             "\" is not a month such as 2026-11");
  const auto prefix = command::ledger_prefix(options.ledger, context);
  if (!prefix) return tl::unexpected<base::Error>(prefix.error());
  const auto session = context.session();
  if (!session) return tl::unexpected<base::Error>(session.error());
  const bool as_object = options.output == "json" || options.output == "yaml";
  std::string target = *prefix + "/v1" + path + "?format=" +
                       (options.output.empty() ? "text"
                        : as_object            ? "json"
                                               : options.output);
  if (!options.month.empty()) target += "&month=" + options.month;
  const auto report = (*session)->client().get_path(target, context.stop);
  if (!report) return tl::unexpected<base::Error>(told_of(report.error()));
  if (as_object && !nlohmann::json::accept(*report))
    return base::fail(base::ErrorCode::kParse, "the ledger's answer is no JSON");
  if (as_object) {
    context.out << objects::printed(json_of(*report), options.output);
  } else {
    std::string text = *report;
    std::erase(text, '\r');  // CSV has it
    context.out << screen::plain_lines(text);
  }
  return command::exit_code::kGood;
}

}  // namespace gpupool::bills
