// SPDX-License-Identifier: Apache-2.0
#include "stream/list_topic.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/json.h"
#include "kube/api_error.h"
#include "kube/table_list.h"
#include "stream/messages.h"
#include "stream/topic_loop.h"

namespace gpupool::web {

struct ObjectEvent {
  std::string type;
  base::json::RawJson object;
};

}  // namespace gpupool::web

template <>
struct gpupool::base::json::Schema<gpupool::web::ObjectEvent> {
  using T = web::ObjectEvent;
  static constexpr auto fields = std::array{field<&T::type>("type"), field<&T::object>("object")};
};

namespace gpupool::web {
namespace {

constexpr std::size_t kRowsOfMessage = 500;
constexpr std::size_t kBytesOfMessage = std::size_t{256} << 10;

std::string field_selector(const Topic& topic) {
  if (!topic.involved.empty()) return "involvedObject.uid=" + topic.involved;
  return topic.name.empty() ? "" : "metadata.name=" + topic.name;
}

// The key of a row, by the columns of the kind.
class Keys {
 public:
  Keys(const kube::TableList& table, const Topic& topic)
      : name_(table.column("Name")), ns_(table.column("Namespace")), topic_(topic) {}

  bool good() const { return name_ && (ns_ || !topic_.ns.empty() || !topic_.type->namespaced); }
  std::string of(const std::vector<std::string>& cells) const {
    if (!topic_.type->namespaced) return cells[*name_];
    return (ns_ ? cells[*ns_] : topic_.ns) + "/" + cells[*name_];
  }

 private:
  std::optional<std::size_t> name_;
  std::optional<std::size_t> ns_;
  const Topic& topic_;
};

base::Result<void> table_once(kube::Client& client, const Topic& topic, Outbox& outbox,
                              const std::stop_token& stop) {
  auto table = kube::read_table(client, *topic.type, topic.ns, "", stop);
  if (!table) return tl::unexpected<base::Error>(table.error());
  const Keys keys(*table, topic);
  if (!keys.good()) {
    return base::fail(base::ErrorCode::kParse, "the definition of " + std::string(topic.type->kind) +
                                                   " in the cluster is too old: it has no column Namespace");
  }
  if (!outbox.push(columns_message(topic.id, table->columns), stop)) return {};
  std::vector<Row> rows;
  for (auto& cells : table->rows) {
    std::string key = keys.of(cells);
    rows.push_back({std::move(key), std::move(cells)});
    if (rows.size() < kRowsOfMessage) continue;
    if (!outbox.push(rows_message(topic.id, std::exchange(rows, {})), stop)) return {};
  }
  table->rows.clear();
  if (!rows.empty() && !outbox.push(rows_message(topic.id, rows), stop)) return {};
  if (!outbox.push(complete_message(topic.id), stop)) return {};
  return kube::watch_table(
      client, *topic.type, topic.ns, "", *table,
      [&](bool gone, std::vector<std::string> cells) {
        const std::string key = keys.of(cells);
        return outbox.push(
            gone ? gone_message(topic.id, key) : rows_message(topic.id, {{key, std::move(cells)}}), stop);
      },
      stop);
}

// Sends the objects of the list; returns its resourceVersion.
base::Result<std::string> send_list(kube::Client& client, const Topic& topic, Outbox& outbox,
                                    const std::stop_token& stop) {
  std::vector<std::pair<std::string, std::string>> objects;
  std::size_t bytes = 0;
  bool reset = true;
  base::Result<void> good;
  const auto send = [&] {
    outbox.push(objects_message(topic.id, std::exchange(objects, {}), std::exchange(reset, false)), stop);
    bytes = 0;
  };
  const auto version = client.list_items(
      *topic.type, topic.ns, {.field_selector = field_selector(topic), .resource_version = "0"},
      [&](std::string_view item) {
        auto object = shown_object(item);
        if (!object) {
          good = tl::unexpected<base::Error>(object.error());
          return;
        }
        bytes += object->second.size();
        objects.push_back(std::move(*object));
        if (bytes >= kBytesOfMessage) send();
      },
      stop);
  if (!version) return version;
  if (!good) return tl::unexpected<base::Error>(good.error());
  send();
  outbox.push(complete_message(topic.id), stop);
  return version;
}

base::Result<void> objects_once(kube::Client& client, const Topic& topic, Outbox& outbox,
                                const std::stop_token& stop) {
  const auto version = send_list(client, topic, outbox, stop);
  if (!version) return tl::unexpected<base::Error>(version.error());
  base::Result<void> good;
  const auto on_line = [&](std::string_view line) {
    const auto event = base::json::read<ObjectEvent>(line);
    if (!event) {
      good = tl::unexpected<base::Error>(event.error());
      return false;
    }
    if (event->type == "BOOKMARK") return true;
    if (event->type == "ERROR") {
      good = tl::unexpected<base::Error>(kube::status_error(event->object.text));
      return false;
    }
    auto object = shown_object(event->object.text);
    if (!object) {
      good = tl::unexpected<base::Error>(object.error());
      return false;
    }
    if (event->type == "DELETED") return outbox.push(gone_message(topic.id, object->first), stop);
    return outbox.push(objects_message(topic.id, {std::move(*object)}, false), stop);
  };
  const auto watched =
      client.watch(*topic.type, topic.ns,
                   {.field_selector = field_selector(topic), .resource_version = *version}, on_line, stop);
  return good ? watched : good;
}

}  // namespace

void run_list_topic(kube::Client& client, const Topic& topic, Outbox& outbox, base::Clock& clock,
                    const std::stop_token& stop) {
  repeat(
      topic, outbox, clock,
      [&] {
        return topic.kind == Topic::Kind::kTable ? table_once(client, topic, outbox, stop)
                                                 : objects_once(client, topic, outbox, stop);
      },
      stop);
}

}  // namespace gpupool::web
