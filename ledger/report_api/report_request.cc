// SPDX-License-Identifier: Apache-2.0
#include "report_api/report_request.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "net/query.h"

namespace gpupool::ledger {
namespace {

using Kind = ReportRequest::Kind;

struct Report {
  Kind kind;
  const char* name;  // in paths, and for people
  std::vector<std::string_view> formats;
};

const std::array<Report, 4>& reports() {
  static const std::array<Report, 4> all{{{Kind::kBill, "bill", {"text", "csv", "json", "focus"}},
                                          {Kind::kPayout, "payout", {"text", "csv", "json"}},
                                          {Kind::kMachines, "machines", {"text", "json"}},
                                          {Kind::kExplanation, "explanation", {"text"}}}};
  return all;
}

const Report& report_of(Kind kind) { return *std::ranges::find(reports(), kind, &Report::kind); }

bool is_for_owners(const ReportRequest& request) {
  return request.kind == Kind::kPayout || request.kind == Kind::kMachines;
}

// parts: after "v1".
std::optional<ReportRequest> read_parts(std::span<const std::string> parts) {
  if (parts.empty() || std::ranges::any_of(parts, &std::string::empty)) return std::nullopt;
  const auto report = std::ranges::find(reports(), parts.back(), &Report::name);
  if (report == reports().end()) return std::nullopt;
  ReportRequest request{.kind = report->kind, .ns = "", .job = "", .owner = "", .month = {}};
  if (request.kind == Kind::kExplanation) {
    if (parts.size() != 5 || parts[0] != "namespaces" || parts[2] != "jobs") return std::nullopt;
    request.ns = parts[1];
    request.job = parts[3];
    return request;
  }
  if (parts.size() == 1) return request;
  if (parts.size() != 3 || parts[0] != (is_for_owners(request) ? "owners" : "namespaces"))
    return std::nullopt;
  (is_for_owners(request) ? request.owner : request.ns) = parts[1];
  return request;
}

}  // namespace

const char* name_of(Kind kind) { return report_of(kind).name; }

base::Result<ReportRequest> read_report_request(const std::string& path, const std::string& query,
                                                const base::Month& this_month) {
  const auto parts = net::path_parts(path);
  auto request =
      parts.empty() || parts.front() != "v1" ? std::nullopt : read_parts(std::span(parts).subspan(1));
  if (!request)
    return tl::unexpected<base::Error>({base::ErrorCode::kNotFound, "there is nothing here", 404});
  const auto bad = [](const std::string& why) { return base::fail(base::ErrorCode::kInvalidArgument, why); };
  const auto parameters = net::read_query(query);
  if (!parameters) return bad("the query is not well-formed");
  request->month = this_month;
  if (const auto found = parameters->find("month"); found != parameters->end()) {
    const auto month = base::parse_month(found->second);
    if (!month) return bad("month is not as 2026-11");
    request->month = *month;
  }
  if (const auto found = parameters->find("format"); found != parameters->end())
    request->format = found->second;
  const auto& formats = report_of(request->kind).formats;
  if (std::ranges::find(formats, request->format) == formats.end()) {
    std::string names;
    for (const auto format : formats) names += (names.empty() ? "" : ", ") + std::string(format);
    return bad("the formats of this report are: " + names);
  }
  return *std::move(request);
}

kube::AccessQuestion right_for(const ReportRequest& request) {
  if (is_for_owners(request))
    return {.verb = "get",
            .group = "gpupool.dev",
            .resource = "gpuledgers",
            .subresource = "payouts",
            .name = request.owner};
  return {.verb = "list", .group = "gpupool.dev", .resource = "gpujobs", .ns = request.ns};
}

}  // namespace gpupool::ledger
