// SPDX-License-Identifier: Apache-2.0
#include "server/web_server.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "assets/assets.h"
#include "base/mutex.h"
#include "net/json_answer.h"
#include "server/access.h"
#include "server/bill_answer.h"
#include "server/guard.h"
#include "server/job_action.h"
#include "server/rate_limit.h"
#include "server/session_answer.h"
#include "stream/tab.h"

namespace gpupool::web {
namespace {

constexpr std::size_t kMostBody = std::size_t{64} << 10;
constexpr int kTabsOfVisitor = 20;
constexpr int kOtherConnections = 200;  // for requests that are answered at once

net::ServerResponse asset_answer(const net::ServerRequest& request) {
  if (request.method != "GET" && request.method != "HEAD")
    return net::error_answer(405, "only GET is served");
  const Asset* const asset = find_asset(request.path);
  if (!asset) return net::error_answer(404, "there is no such file");
  std::vector<net::Header> headers = {{"ETag", asset->etag}, {"Cache-Control", "no-cache"}};
  if (request.header("If-None-Match") == asset->etag) return {.status = 304, .headers = std::move(headers)};
  headers.push_back({"Content-Encoding", "gzip"});
  return {.content_type = std::string(asset->content_type),
          .body = std::string(asset->gzip),
          .headers = std::move(headers)};
}

}  // namespace

struct WebServer::Impl {
  Impl(WebOptions o, Visitors& v, base::Clock& c) : options(std::move(o)), visitors(v), clock(c), rate(c) {}

  net::ServerResponse answer(const net::ServerRequest& request);
  net::ServerResponse api_answer(const net::ServerRequest& request);
  net::ServerResponse unknown_visitor(const std::string& why) const;
  net::ServerResponse stream_answer(const net::ServerRequest& request, Visitor visitor);
  // The place of an open tab, which is given back with it.
  struct Place {
    Place(Impl& o, std::string v) : owner(o), visitor(std::move(v)) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { owner.leave(visitor); }
    Impl& owner;
    std::string visitor;
  };

  bool enter(const std::string& visitor);
  void leave(const std::string& visitor);

  const WebOptions options;
  Visitors& visitors;
  base::Clock& clock;
  RateLimit rate;
  std::stop_source stop;  // of calls to the API server
  base::Mutex mutex;
  std::map<std::string, int> tabs GPUPOOL_GUARDED_BY(mutex);  // of each visitor
  int all_tabs GPUPOOL_GUARDED_BY(mutex) = 0;
  std::unique_ptr<net::HttpServer> http;  // last: its threads use the others
};

net::ServerResponse WebServer::Impl::answer(const net::ServerRequest& request) {
  net::ServerResponse response;
  if (auto no = refused(request, options.hosts)) {
    response = std::move(*no);
  } else if (request.path.starts_with("/api/") && !rate.allows(request.peer)) {
    response = net::error_answer(429, "too many requests; wait a second");
  } else {
    response = request.path.starts_with("/api/") ? api_answer(request) : asset_answer(request);
  }
  for (net::Header& header : protecting_headers()) response.headers.push_back(std::move(header));
  return response;
}

net::ServerResponse WebServer::Impl::unknown_visitor(const std::string& why) const {
  const nlohmann::json body = {{"error", why}, {"mode", visitors.mode()}};
  net::ServerResponse response = net::json_answer(body.dump());
  response.status = 401;
  return response;
}

net::ServerResponse WebServer::Impl::api_answer(const net::ServerRequest& request) {
  auto visitor = visitors.of(request);
  if (!visitor) return unknown_visitor(visitor.error().message);
  const bool posted = request.method == "POST";
  if (request.path == "/api/session" && !posted) {
    auto session = session_json(*visitor->client,
                                {visitors.mode(), options.ns, options.version, visitor->ledger.has_value()},
                                stop.get_token());
    if (session) return net::json_answer(std::move(*session));
    if (session.error().code == base::ErrorCode::kUnauthorized)
      return unknown_visitor("the cluster does not know these credentials, or they have expired");
    return net::error_answer(session.error());
  }
  if (request.path == "/api/bill" && !posted) {
    auto bill = bill_json(*visitor, request.query, stop.get_token());
    return bill ? net::json_answer(std::move(*bill)) : net::error_answer(bill.error());
  }
  if (!posted) return net::error_answer(404, "there is nothing here");
  if (request.path == "/api/stream") return stream_answer(request, std::move(*visitor));
  if (request.path == "/api/access") {
    const auto questions = read_questions(request.body);
    if (!questions) return net::error_answer(questions.error());
    nlohmann::json answers = nlohmann::json::array();
    for (const Question& question : *questions) {
      const auto yes = may(*visitor->client, question, stop.get_token());
      if (!yes) return net::error_answer(yes.error());
      answers.push_back(*yes);
    }
    return net::json_answer(answers.dump());
  }
  const auto action = read_action(request.path);
  if (!action) return net::error_answer(404, "there is nothing here");
  const auto done = carry_out(*visitor->client, *action, request.body, stop.get_token());
  return done ? net::json_answer("{}") : net::error_answer(done.error());
}

net::ServerResponse WebServer::Impl::stream_answer(const net::ServerRequest& request, Visitor visitor) {
  auto topics = read_topics(request.body);
  if (!topics) return net::error_answer(topics.error());
  if (!enter(visitor.id)) return net::error_answer(429, "too many tabs are open; close some");
  const auto place = std::make_shared<Place>(*this, visitor.id);
  const auto tab =
      std::make_shared<Tab>(std::move(visitor.client), std::move(visitor.kept), std::move(*topics), clock);
  return {.content_type = "application/x-ndjson",
          .headers = {{"X-Accel-Buffering", "no"}},
          .stream = [place, tab](const std::stop_token& stopped) { return tab->next(stopped); }};
}

bool WebServer::Impl::enter(const std::string& visitor) {
  const base::MutexLock lock(mutex);
  if (all_tabs >= options.tabs || tabs[visitor] >= kTabsOfVisitor) return false;
  ++all_tabs;
  ++tabs[visitor];
  return true;
}

void WebServer::Impl::leave(const std::string& visitor) {
  const base::MutexLock lock(mutex);
  --all_tabs;
  if (--tabs[visitor] == 0) tabs.erase(visitor);
}

WebServer::WebServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WebServer::~WebServer() { impl_->stop.request_stop(); }

base::Result<std::unique_ptr<WebServer>> WebServer::start(const WebOptions& options, Visitors& visitors,
                                                          base::Clock& clock) {
  auto impl = std::make_unique<Impl>(options, visitors, clock);
  auto http = net::HttpServer::start(
      options.bind,
      {{"/", [&self = *impl](const net::ServerRequest& request) { return self.answer(request); }}},
      {.streams = true,
       .connections = static_cast<unsigned int>(options.tabs + kOtherConnections),
       .max_body = kMostBody,
       .tls_pem = options.tls_pem});
  if (!http) return tl::unexpected<base::Error>(http.error());
  impl->http = std::move(*http);
  return std::unique_ptr<WebServer>(new WebServer(std::move(impl)));
}

int WebServer::port() const { return impl_->http->port(); }

}  // namespace gpupool::web
