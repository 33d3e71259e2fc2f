// SPDX-License-Identifier: Apache-2.0
#include "report_api/report_request.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "net/query.h"

namespace gpupool::ledger {
namespace {

using Kind = ReportRequest::Kind;

constexpr std::string_view kFormatsOfBills[] = {"text", "csv", "json", "focus"};
constexpr std::string_view kFormatsOfPayouts[] = {"text", "csv", "json"};
constexpr std::string_view kFormatsOfMachines[] = {"text", "json"};
constexpr std::string_view kFormatsOfExplanations[] = {"text"};

std::span<const std::string_view> formats_of(Kind kind) {
  switch (kind) {
    case Kind::kBill:
      return kFormatsOfBills;
    case Kind::kPayout:
      return kFormatsOfPayouts;
    case Kind::kMachines:
      return kFormatsOfMachines;
    case Kind::kExplanation:
      return kFormatsOfExplanations;
  }
  return {};
}

std::optional<Kind> kind_of(const std::string& name) {
  for (const Kind kind : {Kind::kBill, Kind::kPayout, Kind::kMachines, Kind::kExplanation}) {
    if (name == name_of(kind)) return kind;
  }
  return std::nullopt;
}

// parts: after "v1".
std::optional<ReportRequest> read_parts(std::span<const std::string> parts) {
  if (parts.empty() || std::ranges::any_of(parts, &std::string::empty)) return std::nullopt;
  const auto kind = kind_of(parts.back());
  if (!kind) return std::nullopt;
  const bool for_owner = *kind == Kind::kPayout || *kind == Kind::kMachines;
  ReportRequest request{.kind = *kind, .ns = "", .job = "", .owner = "", .month = {}};
  if (*kind == Kind::kExplanation) {
    if (parts.size() != 5 || parts[0] != "namespaces" || parts[2] != "jobs") return std::nullopt;
    request.ns = parts[1];
    request.job = parts[3];
    return request;
  }
  if (parts.size() == 1) return request;
  if (parts.size() != 3 || parts[0] != (for_owner ? "owners" : "namespaces")) return std::nullopt;
  (for_owner ? request.owner : request.ns) = parts[1];
  return request;
}

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kBill:
      return "bill";
    case Kind::kPayout:
      return "payout";
    case Kind::kMachines:
      return "machines";
    case Kind::kExplanation:
      return "explanation";
  }
  return "";
}

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
  const auto formats = formats_of(request->kind);
  if (std::ranges::find(formats, request->format) == formats.end()) {
    std::string names;
    for (const auto format : formats) names += (names.empty() ? "" : ", ") + std::string(format);
    return bad("the formats of this report are: " + names);
  }
  return *std::move(request);
}

kube::AccessQuestion right_for(const ReportRequest& request) {
  if (request.kind == Kind::kPayout || request.kind == Kind::kMachines)
    return {.verb = "get",
            .group = "gpupool.dev",
            .resource = "gpuledgers",
            .subresource = "payouts",
            .name = request.owner};
  return {.verb = "list", .group = "gpupool.dev", .resource = "gpujobs", .ns = request.ns};
}

}  // namespace gpupool::ledger
