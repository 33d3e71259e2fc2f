// SPDX-License-Identifier: Apache-2.0
#include "net/http_server.h"

#include <civetweb.h>
#include <pthread.h>

#include <array>
#include <string_view>

#include "base/mutex.h"

namespace gpupool::net {

namespace {

constexpr const char* kThreads = "2";
constexpr const char* kRequestTimeoutMs = "5000";

// Translates "HOST:PORT" or ":PORT" into civetweb's notation.
base::Result<std::string> listening_port(const std::string& bind) {
  const auto bad = [&](const char* why) {
    return base::fail(base::ErrorCode::kInvalidArgument,
                      "'" + bind + "' is not HOST:PORT or :PORT: " + std::string(why));
  };
  const std::size_t colon = bind.rfind(':');
  if (colon == std::string::npos) return bad("no ':'");
  const std::string host = bind.substr(0, colon);
  const std::string port = bind.substr(colon + 1);
  const bool number =
      !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  if (!number || std::stoi(port) > 65535) return bad("the port is not a number from 0 to 65535");
  if (host.find(':') != std::string::npos && !(host.starts_with('[') && host.ends_with(']'))) {
    return bad("an IPv6 address needs brackets");
  }
  if (host.find_first_of(", +") != std::string::npos) return bad("the host holds a comma, a space or a plus");
  return host.empty() ? port : host + ":" + port;
}

const char* reason(int status) { return mg_get_response_code_text(nullptr, status); }

}  // namespace

struct HttpServer::Impl {
  explicit Impl(std::map<std::string, Handler> h) : handlers(std::move(h)) { mg_init_library(0); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (context) mg_stop(context);
    mg_exit_library();
  }

  ServerResponse answer(const mg_request_info& request) const;
  // Returns the handler of the path itself or of the nearest path above it.
  const Handler* find(std::string path) const;

  static int on_request(mg_connection* connection);
  static int on_message(const mg_connection* connection, const char* message);
  static void* on_thread(const mg_context* context, int kind);

  const std::map<std::string, Handler> handlers;
  base::Mutex message_mutex;
  std::string first_message GPUPOOL_GUARDED_BY(message_mutex);  // civetweb's reason when it does not start
  mg_context* context = nullptr;
};

const Handler* HttpServer::Impl::find(std::string path) const {
  while (true) {
    const auto found = handlers.find(path.empty() ? "/" : path);
    if (found != handlers.end()) return &found->second;
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return nullptr;
    path.resize(slash);
  }
}

ServerResponse HttpServer::Impl::answer(const mg_request_info& request) const {
  const std::string_view method = request.request_method;
  if (method != "GET" && method != "HEAD") return {.status = 405, .body = "only GET is served\n"};
  const std::string path = request.local_uri ? request.local_uri : "/";
  const Handler* const handler = find(path);
  if (!handler) return {.status = 404, .body = "not found\n"};
  try {
    return (*handler)(path, request.query_string ? request.query_string : "");
  } catch (const std::exception&) {  // must not cross civetweb's C code
    return {.status = 500, .body = "internal error\n"};
  }
}

int HttpServer::Impl::on_request(mg_connection* connection) {
  const mg_request_info& request = *mg_get_request_info(connection);
  const ServerResponse response = static_cast<const Impl*>(request.user_data)->answer(request);
  std::string text =
      "HTTP/1.1 " + std::to_string(response.status) + " " + reason(response.status) +
      "\r\nContent-Type: " + response.content_type +
      "\r\nContent-Length: " + std::to_string(response.body.size()) +
      "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n" +
      (response.status == 405 ? "Allow: GET, HEAD\r\n" : "") + "\r\n";
  if (std::string_view(request.request_method) != "HEAD") text += response.body;
  mg_write(connection, text.data(), text.size());
  return response.status;
}

int HttpServer::Impl::on_message(const mg_connection* connection, const char* message) {
  auto* const self = static_cast<Impl*>(mg_get_user_data(mg_get_context(connection)));
  if (!self) return 0;
  const base::MutexLock lock(self->message_mutex);
  if (self->first_message.empty()) self->first_message = message;
  return 1;
}

void* HttpServer::Impl::on_thread(const mg_context* /*context*/, int kind) {
  constexpr int kWorker = 1;
  ::pthread_setname_np(::pthread_self(), kind == kWorker ? "http-worker" : "http-accept");
  return nullptr;
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

base::Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& bind,
                                                            std::map<std::string, Handler> handlers) {
  const auto port = listening_port(bind);
  if (!port) return tl::unexpected<base::Error>(port.error());

  auto impl = std::make_unique<Impl>(std::move(handlers));
  mg_callbacks callbacks{};
  callbacks.begin_request = &Impl::on_request;
  callbacks.log_message = &Impl::on_message;
  callbacks.init_thread = &Impl::on_thread;

  const auto try_port = [&](const std::string& listen) {
    std::array<const char*, 7> options{"listening_ports",    listen.c_str(),    "num_threads", kThreads,
                                       "request_timeout_ms", kRequestTimeoutMs, nullptr};
    mg_init_data init{
        .callbacks = &callbacks, .user_data = impl.get(), .configuration_options = options.data()};
    impl->context = mg_start2(&init, nullptr);
    return impl->context != nullptr;
  };
  // "+" means IPv4 and IPv6; a kernel may lack IPv6.
  const bool any_address = port->find(':') == std::string::npos;
  if (!(any_address && try_port("+" + *port)) && !try_port(*port)) {
    const base::MutexLock lock(impl->message_mutex);
    const std::string why = impl->first_message.empty() ? "no reason given" : impl->first_message;
    return base::fail(base::ErrorCode::kIo, "cannot listen on '" + bind + "': " + why);
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

int HttpServer::port() const {
  std::array<mg_server_port, 4> ports{};
  const int count = mg_get_server_ports(impl_->context, static_cast<int>(ports.size()), ports.data());
  return count > 0 ? ports.front().port : 0;
}

}  // namespace gpupool::net
