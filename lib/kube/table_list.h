// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/client.h"

namespace gpupool::kube {

// A list of one kind as the server's Table: the printer columns alone.
struct TableList {
  std::vector<std::string> columns;  // names, as in the definition
  std::vector<std::vector<std::string>>
      rows;  // a cell for each column; null is empty, numbers are their text
  std::string resource_version;

  // Nothing if the definition in the cluster lacks the column.
  std::optional<std::size_t> column(std::string_view name) const;
};

// Read from the server's memory. ns empty: all namespaces.
base::Result<TableList> read_table(Client& client, const api::ResourceType& type, const std::string& ns,
                                   const std::string& label_selector, const std::stop_token& stop);

// The cells of a row that is new or has changed. gone: its object is as it was before it was deleted, or lost
// the labels. False: no more is wanted.
using OnRow = std::function<bool(bool gone, std::vector<std::string> cells)>;

// Watches what list was read from, from then on. Returns when the server ends the watch or on_row returns
// false. kExpired: the list is too old.
base::Result<void> watch_table(Client& client, const api::ResourceType& type, const std::string& ns,
                               const std::string& label_selector, const TableList& list, const OnRow& on_row,
                               const std::stop_token& stop);

}  // namespace gpupool::kube
