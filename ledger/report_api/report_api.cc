// SPDX-License-Identifier: Apache-2.0
#include "report_api/report_api.h"

#include <cstdint>

#include "base/unix_seconds.h"
#include "books/books.h"
#include "books/machine_times.h"
#include "net/json_answer.h"
#include "reader_server/reader_token.h"
#include "reports/explain.h"
#include "reports/machine_report.h"
#include "reports/statement.h"

namespace gpupool::ledger {
namespace {

using Kind = ReportRequest::Kind;

constexpr std::size_t kMostLines = 100'000;

const char* content_type(const std::string& format) {
  if (format == "json") return "application/json";
  return format == "text" ? "text/plain; charset=utf-8" : "text/csv; charset=utf-8";
}

}  // namespace

net::ServerResponse ReportApi::answer(const net::ServerRequest& request) {
  const auto token = readers::reader_token(request);
  if (!token) return readers::no_token_answer();
  const auto wanted =
      read_report_request(request.path, request.query, base::month_of(base::unix_seconds(clock_.wall())));
  if (!wanted) return net::error_answer(wanted.error());
  const auto may = access_.may_read(*token, right_for(*wanted), std::string("the ") + name_of(wanted->kind),
                                    stop_.get_token());
  if (!may) return net::error_answer(may.error());
  const auto since = known_since(*wanted);
  if (!since) return net::error_answer(since.error());
  auto text = report(*wanted, *since);
  if (!text)
    return net::error_answer(text.error().http_status > 0 ? text.error().http_status : 500,
                             text.error().message);
  return {.content_type = content_type(wanted->format),
          .body = *std::move(text),
          .headers = {{"X-Content-Type-Options", "nosniff"}}};
}

base::Result<std::int64_t> ReportApi::known_since(const ReportRequest& request) {
  if (request.ns.empty()) return 0;
  // Not from memory: it may have been made again a moment ago.
  const auto info = readers::read_namespace(own_, request.ns, stop_.get_token());
  if (!info) return tl::unexpected<base::Error>(info.error());
  return base::unix_seconds(info->created);
}

base::Result<std::string> ReportApi::report(const ReportRequest& request, std::int64_t since) {
  const base::MutexLock lock(mutex_);
  const auto books = Books::open_to_read(database_, clock_);
  if (!books) return tl::unexpected<base::Error>(books.error());
  if (request.kind == Kind::kExplanation) return explain(**books, request.ns + "/" + request.job, since);
  if (request.kind == Kind::kMachines) {
    auto times = MachineTimes::open_to_read(database_);
    if (!times) return tl::unexpected<base::Error>(times.error());
    const auto machines = make_machine_report(**books, *times, request.month, request.owner, kMostLines);
    if (!machines) return tl::unexpected<base::Error>(machines.error());
    return in_format(*machines, request.format);
  }
  const auto statement = make_statement(
      **books, request.month, {request.ns, request.owner, request.kind == Kind::kPayout, since}, kMostLines);
  if (!statement) return tl::unexpected<base::Error>(statement.error());
  return in_format(*statement, request.format);
}

}  // namespace gpupool::ledger
