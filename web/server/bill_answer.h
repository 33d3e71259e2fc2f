// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>

#include "base/result.h"
#include "server/visitor.h"

namespace gpupool::web {

// The bill of a month by the books, as gpupool-ledger's JSON. query: "namespace=NS&month=2026-11"; without a
// namespace: of all. kInvalidArgument: the query. kNotFound: there is no ledger.
base::Result<std::string> bill_json(const Visitor& visitor, const std::string& query,
                                    const std::stop_token& stop);

}  // namespace gpupool::web
