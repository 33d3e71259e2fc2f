// SPDX-License-Identifier: Apache-2.0
#include "reports/export.h"

#include <nlohmann/json.hpp>

#include "books/change.h"

namespace gpupool::ledger {
namespace {

using nlohmann::json;

base::Result<json> postings_json(const Entry& entry) {
  const auto made = postings_of(entry);
  if (!made) return tl::unexpected<base::Error>(made.error());
  json postings = json::array();
  for (const auto& posting : *made)
    postings.push_back(
        {{"account", posting.account}, {"currency", posting.currency}, {"amount", posting.amount}});
  return postings;
}

}  // namespace

base::Result<void> export_entries(Books& books, std::int64_t after,
                                  const std::function<void(const std::string&)>& write) {
  base::Result<void> understood;
  auto all = books.each_entry(
      [&](const Entry& entry) {
        auto postings = postings_json(entry);
        if (!postings) understood = tl::unexpected<base::Error>(postings.error());
        if (!postings) return false;
        const json line = {{"seq", entry.seq},
                           {"key", entry.key},
                           {"kind", entry.kind},
                           {"body", json::parse(entry.body)},
                           {"remark", entry.remark},
                           {"clipped", entry.clipped},
                           {"entered", entry.entered},
                           {"hash", entry.hash},
                           {"postings", *std::move(postings)}};
        write(line.dump() + "\n");
        return true;
      },
      after);
  return understood ? all : understood;
}

}  // namespace gpupool::ledger
