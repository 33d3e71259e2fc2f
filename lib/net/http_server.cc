// SPDX-License-Identifier: Apache-2.0
#include "net/http_server.h"

#include <civetweb.h>
#include <pthread.h>
#include <strings.h>

#include <array>
#include <atomic>
#include <string_view>

#include "base/mutex.h"

namespace gpupool::net {

namespace {

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

bool same_name(std::string_view one, std::string_view other) {
  return one.size() == other.size() && ::strncasecmp(one.data(), other.data(), one.size()) == 0;
}

bool only_reads(std::string_view method) { return method == "GET" || method == "HEAD"; }

// The lines before the body, without the empty one.
std::string head_of(const ServerResponse& response, const char* allowed) {
  std::string text = "HTTP/1.1 " + std::to_string(response.status) + " " + reason(response.status) +
                     "\r\nContent-Type: " + response.content_type +
                     "\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n";
  bool cached = false;
  for (const Header& header : response.headers) {
    text += header.name + ": " + header.value + "\r\n";
    cached = cached || same_name(header.name, "Cache-Control");
  }
  if (!cached) text += "Cache-Control: no-store\r\n";
  if (response.status == 405) text += std::string("Allow: ") + allowed + "\r\n";
  return text;
}

// A stream of chunks (RFC 9112, 7.1) to one client. For the thread of its request.
class ChunkStream final : public ResponseStream {
 public:
  ChunkStream(mg_connection& connection, const std::atomic<bool>& stopping)
      : connection_(connection), stopping_(stopping) {}

  bool write(std::string_view piece) override {
    if (piece.empty()) return good_;
    good_ = good_ && !stopping_ &&
            mg_send_chunk(&connection_, piece.data(), static_cast<unsigned int>(piece.size())) > 0;
    return good_;
  }
  bool stopping() const override { return stopping_; }
  void finish() {
    if (good_) mg_send_chunk(&connection_, "", 0);
  }

 private:
  mg_connection& connection_;
  const std::atomic<bool>& stopping_;
  bool good_ = true;
};

// The body of a request, or the answer that refuses it.
tl::expected<std::string, ServerResponse> read_body(mg_connection* connection, const mg_request_info& request,
                                                    std::size_t most) {
  if (only_reads(request.request_method)) return "";
  if (request.content_length < 0)
    return tl::unexpected(ServerResponse{.status = 411, .body = "the length of the body is missing\n"});
  const auto length = static_cast<std::size_t>(request.content_length);
  if (length > most) return tl::unexpected(ServerResponse{.status = 413, .body = "the body is too long\n"});
  std::string body(length, '\0');
  std::size_t have = 0;
  while (have < length) {
    const int got = mg_read(connection, body.data() + have, length - have);
    if (got <= 0) return tl::unexpected(ServerResponse{.status = 400, .body = "the body is cut\n"});
    have += static_cast<std::size_t>(got);
  }
  return body;
}

}  // namespace

struct HttpServer::Impl {
  Impl(std::map<std::string, Handler> h, const ServerOptions& o) : handlers(std::move(h)), options(o) {
    mg_init_library(0);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    stopping = true;
    if (context) mg_stop(context);
    mg_exit_library();
  }

  ServerResponse answer(mg_connection* connection, const mg_request_info& info) const;
  // Returns the handler of the path itself or of the nearest path above it.
  const Handler* find(std::string path) const;

  static int on_request(mg_connection* connection);
  static int on_message(const mg_connection* connection, const char* message);
  static void* on_thread(const mg_context* context, int kind);

  const std::map<std::string, Handler> handlers;
  const ServerOptions options;
  std::atomic<bool> stopping{false};
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

ServerResponse HttpServer::Impl::answer(mg_connection* connection, const mg_request_info& info) const {
  if (!only_reads(info.request_method) && options.max_body == 0)
    return {.status = 405, .body = "only GET is served\n"};
  ServerRequest request{.method = info.request_method,
                        .path = info.local_uri ? info.local_uri : "/",
                        .query = info.query_string ? info.query_string : "",
                        .peer = info.remote_addr};
  const Handler* const handler = find(request.path);
  if (!handler) return {.status = 404, .body = "not found\n"};
  for (int i = 0; i < info.num_headers; ++i)
    request.headers.push_back({info.http_headers[i].name, info.http_headers[i].value});
  auto body = read_body(connection, info, options.max_body);
  if (!body) return std::move(body.error());
  request.body = std::move(*body);
  try {
    return (*handler)(request);
  } catch (const std::exception&) {  // must not cross civetweb's C code
    return {.status = 500, .body = "internal error\n"};
  }
}

int HttpServer::Impl::on_request(mg_connection* connection) {
  const mg_request_info& request = *mg_get_request_info(connection);
  const Impl& self = *static_cast<const Impl*>(request.user_data);
  const ServerResponse response = self.answer(connection, request);
  const bool with_body = std::string_view(request.request_method) != "HEAD";
  std::string text = head_of(response, self.options.max_body == 0 ? "GET, HEAD" : "GET, HEAD, POST");
  if (response.stream && with_body) {
    text += "Transfer-Encoding: chunked\r\n\r\n";
    if (mg_write(connection, text.data(), text.size()) <= 0) return response.status;
    ChunkStream stream(*connection, self.stopping);
    try {
      response.stream(stream);
      stream.finish();
    } catch (const std::exception&) {  // the client sees that the last chunk is missing
    }
    return response.status;
  }
  text += "Content-Length: " + std::to_string(response.body.size()) + "\r\n\r\n";
  if (with_body) text += response.body;
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

std::string_view ServerRequest::header(std::string_view name) const {
  for (const Header& header : headers)
    if (same_name(header.name, name)) return header.value;
  return {};
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

base::Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& bind,
                                                            std::map<std::string, Handler> handlers,
                                                            const ServerOptions& options) {
  const auto port = listening_port(bind);
  if (!port) return tl::unexpected<base::Error>(port.error());

  auto impl = std::make_unique<Impl>(std::move(handlers), options);
  mg_callbacks callbacks{};
  callbacks.begin_request = &Impl::on_request;
  callbacks.log_message = &Impl::on_message;
  callbacks.init_thread = &Impl::on_thread;

  const std::string threads = std::to_string(options.threads);
  const std::string timeout = std::to_string(options.request_timeout.count());
  const auto try_port = [&](const std::string& listen) {
    std::array<const char*, 7> settings{"listening_ports",    listen.c_str(),  "num_threads", threads.c_str(),
                                        "request_timeout_ms", timeout.c_str(), nullptr};
    mg_init_data init{
        .callbacks = &callbacks, .user_data = impl.get(), .configuration_options = settings.data()};
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
