// SPDX-License-Identifier: Apache-2.0
#include "server/bill_answer.h"

#include "base/month.h"
#include "kube/request_path.h"
#include "net/query.h"

namespace gpupool::web {

base::Result<std::string> bill_json(const Visitor& visitor, const std::string& query,
                                    const std::stop_token& stop) {
  if (!visitor.ledger)
    return tl::unexpected<base::Error>({base::ErrorCode::kNotFound, "this page knows no ledger", 404});
  const auto parameters = net::read_query(query);
  if (!parameters) return base::fail(base::ErrorCode::kInvalidArgument, "the query is not well-formed");
  const auto value = [&](const char* name) {
    const auto found = parameters->find(name);
    return found == parameters->end() ? std::string() : found->second;
  };
  const std::string ns = value("namespace");
  const std::string month = value("month");
  if (!base::parse_month(month))
    return base::fail(base::ErrorCode::kInvalidArgument, "month is not as 2026-11");
  const std::string path = visitor.ledger->prefix + "/v1" +
                           (ns.empty() ? "" : "/namespaces/" + kube::percent_encode(ns)) + "/bill";
  return visitor.ledger->client->get_path(path + "?format=json&month=" + month, stop);
}

}  // namespace gpupool::web
