// SPDX-License-Identifier: Apache-2.0
#include "kube/table_list.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"

namespace gpupool::kube {

struct TableRow {
  std::vector<base::json::RawJson> cells;
};
struct ColumnDefinition {
  std::string name;
};
struct TableHead {
  std::string kind;
  api::ListMeta metadata;
  std::vector<ColumnDefinition> column_definitions;
};
struct TableOfEvent {
  std::vector<TableRow> rows;
};
struct TableEvent {
  std::string type;
  base::json::RawJson object;
};

}  // namespace gpupool::kube

template <>
struct gpupool::base::json::Schema<gpupool::kube::TableRow> {
  static constexpr auto fields = std::array{field<&kube::TableRow::cells>("cells")};
};
template <>
struct gpupool::base::json::Schema<gpupool::kube::ColumnDefinition> {
  static constexpr auto fields = std::array{field<&kube::ColumnDefinition::name>("name")};
};
template <>
struct gpupool::base::json::Schema<gpupool::kube::TableHead> {
  using T = kube::TableHead;
  static constexpr auto fields = std::array{field<&T::kind>("kind"), field<&T::metadata>("metadata"),
                                            field<&T::column_definitions>("columnDefinitions")};
};
template <>
struct gpupool::base::json::Schema<gpupool::kube::TableOfEvent> {
  static constexpr auto fields = std::array{field<&kube::TableOfEvent::rows>("rows")};
};
template <>
struct gpupool::base::json::Schema<gpupool::kube::TableEvent> {
  using T = kube::TableEvent;
  static constexpr auto fields = std::array{field<&T::type>("type"), field<&T::object>("object")};
};

namespace gpupool::kube {
namespace {

// The text of a cell: of a string without its quotes.
base::Result<std::string> cell_text(std::string raw) {
  if (raw == "null") return "";
  if (raw.empty() || raw.front() != '"') return raw;
  if (raw.find('\\') != std::string::npos) return base::json::read<std::string>(raw);
  return raw.substr(1, raw.size() - 2);
}

base::Result<std::vector<std::string>> cells_of(base::Result<TableRow> row) {
  if (!row) return tl::unexpected<base::Error>(row.error());
  std::vector<std::string> cells;
  cells.reserve(row->cells.size());
  for (auto& cell : row->cells) {
    auto text = cell_text(std::move(cell.text));
    if (!text) return tl::unexpected<base::Error>(text.error());
    cells.push_back(std::move(*text));
  }
  return cells;
}

}  // namespace

std::optional<std::size_t> TableList::column(std::string_view name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

base::Result<TableList> read_table(Client& client, const api::ResourceType& type, const std::string& ns,
                                   const std::string& label_selector, const std::stop_token& stop) {
  TableList list;
  base::Result<void> good;
  const auto on_row = [&](std::string_view row) {
    auto cells = cells_of(base::json::read<TableRow>(row));
    if (!cells) {
      good = tl::unexpected<base::Error>(cells.error());
    } else {
      list.rows.push_back(std::move(*cells));
    }
  };
  const auto head =
      client.list_table(type, ns, {.label_selector = label_selector, .resource_version = "0"}, on_row, stop);
  if (!head) return tl::unexpected<base::Error>(head.error());
  const auto table = base::json::read<TableHead>(*head);
  if (!table) return tl::unexpected<base::Error>(table.error());
  list.resource_version = table->metadata.resource_version;
  for (const ColumnDefinition& column : table->column_definitions) list.columns.push_back(column.name);
  for (const auto& row : list.rows) {
    if (row.size() != list.columns.size())
      good = base::fail(base::ErrorCode::kParse, "a row has another number of cells");
  }
  if (table->kind != "Table")
    good = base::fail(base::ErrorCode::kParse, "the answer is a " + table->kind + ", no Table");
  if (!good) return base::in_context(good.error(), "list of " + std::string(type.kind));
  return list;
}

base::Result<void> watch_table(Client& client, const api::ResourceType& type, const std::string& ns,
                               const std::string& label_selector, const TableList& list, const OnRow& on_row,
                               const std::stop_token& stop) {
  base::Result<void> good;
  // False: the watch is over.
  const auto take = [&](std::string_view line) -> base::Result<bool> {
    const auto event = base::json::read<TableEvent>(line);
    if (!event) return tl::unexpected<base::Error>(event.error());
    if (event->type == "BOOKMARK") return true;
    if (event->type == "ERROR") return base::fail(base::ErrorCode::kExpired, event->object.text);
    auto table = base::json::read<TableOfEvent>(event->object.text);
    if (!table) return tl::unexpected<base::Error>(table.error());
    for (auto& row : table->rows) {
      auto cells = cells_of(std::move(row));
      if (!cells) return tl::unexpected<base::Error>(cells.error());
      if (cells->size() != list.columns.size())
        return base::fail(base::ErrorCode::kParse, "a row has another number of cells");
      if (!on_row(event->type == "DELETED", std::move(*cells))) return false;
    }
    return true;
  };
  const auto on_line = [&](std::string_view line) {
    const auto more = take(line);
    if (!more) good = base::in_context(more.error(), "watch of " + std::string(type.kind));
    return more && *more;
  };
  const auto watched = client.watch(
      type, ns,
      {.label_selector = label_selector, .resource_version = list.resource_version, .as_table = true},
      on_line, stop);
  return good ? watched : good;
}

}  // namespace gpupool::kube
