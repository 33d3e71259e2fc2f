// SPDX-License-Identifier: Apache-2.0
#include "kube/client.h"

#include <utility>

#include "api/core/pod.h"
#include "kube/delete_body.h"
#include "kube/item_splitter.h"
#include "kube/request_path.h"
#include "kube/sender.h"
#include "net/line_splitter.h"

namespace gpupool::kube {
namespace {

constexpr std::chrono::seconds kIdleSlack{30};
// The API server's own limit for a request (--request-timeout).
constexpr std::chrono::seconds kListSilence{60};
constexpr std::chrono::minutes kLongestList{10};
constexpr std::size_t kMaxRow = std::size_t{1} << 20;
constexpr char kTable[] = "application/json;as=Table;v=v1;g=meta.k8s.io";

net::HttpRequest make_request(const char* method, std::string target) {
  net::HttpRequest request;
  request.method = method;
  request.target = std::move(target);
  request.headers.push_back({"Accept", "application/json"});
  return request;
}

net::HttpRequest make_request(const char* method, std::string target, const char* content_type,
                              const std::string& body) {
  net::HttpRequest request = make_request(method, std::move(target));
  request.headers.push_back({"Content-Type", content_type});
  request.body = body;
  return request;
}

// A cheap check that the text has its braces. The transport already detects most truncated bodies
// (Content-Length, chunks); decoding detects the rest.
base::Result<std::string> object_text(const Call& call, base::Result<net::HttpResponse> answer) {
  if (!answer) return tl::unexpected<base::Error>(std::move(answer.error()));
  static constexpr std::string_view kSpace = " \t\r\n";
  const auto first = answer->body.find_first_not_of(kSpace);
  const auto last = answer->body.find_last_not_of(kSpace);
  if (first == std::string::npos || answer->body[first] != '{' || answer->body[last] != '}') {
    return base::fail(base::ErrorCode::kParse, call.describe() + ": the answer is no complete JSON object (" +
                                                   std::to_string(answer->body.size()) + " bytes)");
  }
  return std::move(answer->body);
}

// around: the list without its items. A list with a continue token is an error, because no limit was sent.
base::Result<std::string> version_of_all(const std::string& around) {
  const auto list = base::json::read<api::List<base::json::RawJson>>(around);
  if (!list) return tl::unexpected<base::Error>(list.error());
  const api::ListMeta& metadata = list->metadata;
  if (metadata.resource_version.empty()) {
    return base::fail(base::ErrorCode::kParse, "a list without a resourceVersion");
  }
  if (!metadata.continue_token.empty()) {
    return base::fail(base::ErrorCode::kParse, "a page, although there was no limit");
  }
  return metadata.resource_version;
}

// Feeds the answer to the splitter as it arrives. Returns the list without its objects.
base::Result<std::string> stream_list(Sender& sender, const Call& call, net::HttpRequest request,
                                      ItemSplitter& splitter,
                                      const std::function<void(std::string_view)>& on_item,
                                      const std::stop_token& stop) {
  request.timeout = kLongestList;
  request.idle_timeout = kListSilence;
  base::Result<void> fed;
  const net::BodySink sink = [&](std::string_view piece) {
    fed = splitter.feed(piece, on_item);
    return fed.has_value();
  };
  auto answer = sender.stream(call, request, sink, stop);
  if (!fed) return base::in_context(fed.error(), call.describe());
  if (!answer) return tl::unexpected<base::Error>(std::move(answer.error()));
  auto around = splitter.finish();
  if (!around) return base::in_context(around.error(), call.describe());
  return around;
}

tl::unexpected<base::Error> bad_path(const Call& call, const base::Error& error) {
  return base::in_context(error, call.describe());
}

}  // namespace

struct Client::Impl {
  Sender sender;
};

Client::Client(net::Transport& transport, TokenSource* tokens, base::Clock& clock, base::Metrics& metrics,
               ClientOptions options)
    : impl_(new Impl{Sender(transport, tokens, clock, metrics, std::move(options))}) {}

Client::~Client() = default;

base::Result<std::string> Client::get(const api::ResourceType& type, const api::ObjectKey& key,
                                      std::stop_token stop) {
  const Call call{.verb = "get", .type = &type, .ns = key.ns, .name = key.name};
  const auto path = object_path(type, key, "");
  if (!path) return bad_path(call, path.error());
  return object_text(call, impl_->sender.send(call, make_request("GET", *path), stop));
}

base::Result<std::string> Client::list(const api::ResourceType& type, const std::string& ns,
                                       const ListOptions& options, std::stop_token stop) {
  const Call call{.verb = "list", .type = &type, .ns = ns};
  const auto path = collection_path(type, ns);
  if (!path) return bad_path(call, path.error());
  return object_text(call, impl_->sender.send(call, make_request("GET", *path + list_query(options)), stop));
}

base::Result<std::string> Client::list_items(const api::ResourceType& type, const std::string& ns,
                                             const ListOptions& options,
                                             const std::function<void(std::string_view)>& on_item,
                                             std::stop_token stop) {
  const Call call{.verb = "list", .type = &type, .ns = ns};
  const auto path = collection_path(type, ns);
  if (!path) return bad_path(call, path.error());
  ItemSplitter items;
  const auto around = stream_list(impl_->sender, call, make_request("GET", *path + list_query(options)),
                                  items, on_item, stop);
  if (!around) return around;
  auto version = version_of_all(*around);
  if (!version) return base::in_context(version.error(), call.describe());
  return version;
}

base::Result<std::string> Client::list_table(const api::ResourceType& type, const std::string& ns,
                                             const ListOptions& options,
                                             const std::function<void(std::string_view)>& on_row,
                                             std::stop_token stop) {
  const Call call{.verb = "list", .type = &type, .ns = ns};
  const auto path = collection_path(type, ns);
  if (!path) return bad_path(call, path.error());
  const std::string query = list_query(options);
  net::HttpRequest request =
      make_request("GET", *path + query + (query.empty() ? "?" : "&") + "includeObject=None");
  request.headers.front().value = kTable;
  ItemSplitter rows(kMaxRow, "rows");
  return stream_list(impl_->sender, call, std::move(request), rows, on_row, stop);
}

base::Result<std::string> Client::create(const api::ResourceType& type, const std::string& ns,
                                         const std::string& body, std::stop_token stop) {
  const Call call{.verb = "create", .type = &type, .ns = ns};
  const auto path = create_path(type, ns);
  if (!path) return bad_path(call, path.error());
  return object_text(call,
                     impl_->sender.send(call, make_request("POST", *path, "application/json", body), stop));
}

base::Result<std::string> Client::try_create(const api::ResourceType& type, const std::string& ns,
                                             const std::string& body, std::stop_token stop) {
  const Call call{.verb = "create", .type = &type, .ns = ns};
  const auto path = create_path(type, ns);
  if (!path) return bad_path(call, path.error());
  return object_text(
      call,
      impl_->sender.send(call, make_request("POST", *path + "?dryRun=All", "application/json", body), stop));
}

base::Result<std::string> Client::remove(const api::ResourceType& type, const api::ObjectKey& key,
                                         const DeleteOptions& options, std::stop_token stop) {
  const Call call{.verb = "delete", .type = &type, .ns = key.ns, .name = key.name};
  const auto path = object_path(type, key, "");
  if (!path) return bad_path(call, path.error());
  auto answer =
      impl_->sender.send(call, make_request("DELETE", *path, "application/json", delete_body(options)), stop);
  if (!answer) return tl::unexpected<base::Error>(std::move(answer.error()));
  return std::move(answer->body);
}

base::Result<std::string> Client::update(const api::ResourceType& type, const api::ObjectKey& key,
                                         const std::string& body, const std::string& subresource,
                                         std::stop_token stop) {
  const Call call{
      .verb = "update", .type = &type, .ns = key.ns, .name = key.name, .subresource = subresource};
  const auto path = object_path(type, key, subresource);
  if (!path) return bad_path(call, path.error());
  return object_text(call,
                     impl_->sender.send(call, make_request("PUT", *path, "application/json", body), stop));
}

base::Result<std::string> Client::patch(const api::ResourceType& type, const api::ObjectKey& key,
                                        PatchType patch_type, const std::string& body,
                                        const std::string& subresource, std::stop_token stop) {
  const Call call{.verb = "patch", .type = &type, .ns = key.ns, .name = key.name, .subresource = subresource};
  const auto path = object_path(type, key, subresource);
  if (!path) return bad_path(call, path.error());
  const char* content_type =
      patch_type == PatchType::kJson ? "application/json-patch+json" : "application/merge-patch+json";
  return object_text(call, impl_->sender.send(call, make_request("PATCH", *path, content_type, body), stop));
}

base::Result<void> Client::watch(const api::ResourceType& type, const std::string& ns,
                                 const WatchOptions& options,
                                 const std::function<bool(std::string_view)>& on_line, std::stop_token stop) {
  const Call call{.verb = "watch", .type = &type, .ns = ns};
  const auto path = collection_path(type, ns);
  if (!path) return bad_path(call, path.error());
  net::HttpRequest request = make_request("GET", *path + watch_query(options));
  if (options.as_table) request.headers.front().value = kTable;
  request.timeout = std::nullopt;
  request.idle_timeout = options.timeout + kIdleSlack;

  net::LineSplitter lines;
  bool enough = false;
  std::optional<base::Error> broken;
  const net::BodySink sink = [&](std::string_view piece) {
    const auto more = lines.feed(piece, [&](std::string_view line) {
      enough = !on_line(line);
      return !enough;
    });
    if (!more) broken = more.error();
    return more.has_value() && !enough;
  };
  auto answer = impl_->sender.stream(call, request, sink, stop);
  if (enough) return {};
  if (broken) return base::in_context(*broken, call.describe());
  if (!answer) return tl::unexpected<base::Error>(std::move(answer.error()));
  return {};
}

base::Result<void> Client::pod_log(const api::ObjectKey& pod, const LogOptions& options,
                                   const std::function<bool(std::string_view)>& on_piece,
                                   std::stop_token stop) {
  const Call call{
      .verb = "get", .type = &api::Pod::kType, .ns = pod.ns, .name = pod.name, .subresource = "log"};
  const auto path = object_path(api::Pod::kType, pod, "log");
  if (!path) return bad_path(call, path.error());
  net::HttpRequest request = make_request("GET", *path + log_query(options));
  request.headers.front().value = "*/*";  // the log is plain text, an error JSON
  request.timeout = std::nullopt;
  request.idle_timeout = options.silence;
  bool enough = false;
  const net::BodySink sink = [&](std::string_view piece) {
    enough = !on_piece(piece);
    return !enough;
  };
  auto answer = impl_->sender.stream(call, request, sink, stop);
  if (enough) return {};
  if (!answer) return tl::unexpected<base::Error>(std::move(answer.error()));
  return {};
}

base::Result<std::string> Client::get_path(const std::string& path, std::stop_token stop) {
  const Call call{.verb = "get", .path = path};
  if (path.empty() || path.front() != '/') {
    return bad_path(call, {base::ErrorCode::kInvalidArgument, "a path begins with '/'"});
  }
  net::HttpRequest request = make_request("GET", path);
  request.headers.front().value = "*/*";  // health checks answer in plain text
  auto answer = impl_->sender.send(call, request, stop);
  if (!answer) return tl::unexpected<base::Error>(std::move(answer.error()));
  return std::move(answer->body);
}

base::Result<void> Client::stream_path(const std::string& path, std::chrono::milliseconds timeout,
                                       const std::function<base::Result<void>(std::string_view)>& on_piece,
                                       std::stop_token stop) {
  const Call call{.verb = "get", .path = path};
  net::HttpRequest request = make_request("GET", path);
  request.timeout = timeout;
  base::Result<void> taken;
  const net::BodySink sink = [&](std::string_view piece) {
    taken = on_piece(piece);
    return taken.has_value();
  };
  auto answer = impl_->sender.stream(call, request, sink, stop);
  if (!taken) return base::in_context(taken.error(), call.describe());
  if (!answer) return tl::unexpected<base::Error>(std::move(answer.error()));
  return {};
}

}  // namespace gpupool::kube
