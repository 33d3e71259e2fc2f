// SPDX-License-Identifier: Apache-2.0
#include "net/http_server.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stop_token>
#include <system_error>
#include <utility>

#include "base/unique_fd.h"
#include "net/listen.h"

namespace gpupool::net {

namespace {

constexpr int kThreads = 2;
constexpr std::size_t kThreadStack = std::size_t{256} << 10;
constexpr std::size_t kBlock = std::size_t{64} << 10;  // what a stream is asked for at once
// How much of a body that is too long is read: who still sends when the connection is closed may not see the
// answer.
constexpr std::size_t kMostDropped = std::size_t{1} << 20;
constexpr unsigned int kStreamTimeout = 60;  // seconds
constexpr char kTlsPriorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

// Names of headers are the same in any case.
bool same_name(std::string_view one, std::string_view other) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  return std::ranges::equal(one, other, {}, lower, lower);
}

bool only_reads(std::string_view method) { return method == "GET" || method == "HEAD"; }

std::string address_of(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  std::array<char, NI_MAXHOST> host{};
  if (!info || ::getnameinfo(info->client_addr, sizeof(sockaddr_storage), host.data(), host.size(), nullptr,
                             0, NI_NUMERICHOST) != 0)
    return "";
  return host.data();
}

// One request while it is read.
struct Reading {
  std::string query;
  std::string body;
  bool begun = false;     // its headers are known
  bool too_long = false;  // its body
};

// A stream and the part of a piece that was not sent yet. For one thread.
struct Sending {
  ServerResponse::Stream next;
  std::stop_token stop;
  std::string piece = {};
  std::size_t at = 0;
};

ssize_t send_more(void* cls, std::uint64_t /*position*/, char* to, std::size_t most) {
  auto& sending = *static_cast<Sending*>(cls);
  try {
    while (sending.at == sending.piece.size()) {
      auto piece = sending.stop.stop_requested() ? std::nullopt : sending.next(sending.stop);
      if (!piece) return MHD_CONTENT_READER_END_OF_STREAM;
      sending.piece = std::move(*piece);
      sending.at = 0;
    }
  } catch (const std::exception&) {  // the client sees that the last chunk is missing
    return MHD_CONTENT_READER_END_WITH_ERROR;
  }
  const std::size_t length = std::min(most, sending.piece.size() - sending.at);
  std::copy_n(sending.piece.begin() + static_cast<std::ptrdiff_t>(sending.at), length, to);
  sending.at += length;
  return static_cast<ssize_t>(length);
}

void end_sending(void* cls) { delete static_cast<Sending*>(cls); }

}  // namespace

struct HttpServer::Impl {
  Impl(std::map<std::string, Handler> h, const ServerOptions& o) : handlers(std::move(h)), options(o) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    stop.request_stop();
    if (daemon) MHD_stop_daemon(daemon);
  }

  // The answer that refuses a request before its body is read, if it is refused.
  std::optional<ServerResponse> refusal(MHD_Connection* connection, std::string_view method) const;
  ServerResponse answer(MHD_Connection* connection, const char* path, const char* method,
                        Reading& reading) const;
  MHD_Result send(MHD_Connection* connection, ServerResponse response) const;
  // Returns the handler of the path itself or of the nearest path above it.
  const Handler* find(std::string path) const;

  static void* on_uri(void* cls, const char* uri, MHD_Connection* connection);
  static MHD_Result on_access(void* cls, MHD_Connection* connection, const char* path, const char* method,
                              const char* version, const char* data, std::size_t* size, void** request);
  static void on_completed(void* cls, MHD_Connection* connection, void** request,
                           MHD_RequestTerminationCode code);

  const std::map<std::string, Handler> handlers;
  const ServerOptions options;
  std::stop_source stop;
  MHD_Daemon* daemon = nullptr;
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

std::optional<ServerResponse> HttpServer::Impl::refusal(MHD_Connection* connection,
                                                        std::string_view method) const {
  if (only_reads(method)) return std::nullopt;
  if (options.max_body == 0) return ServerResponse{.status = 405, .body = "only GET is served\n"};
  const char* const length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
  if (!length) return ServerResponse{.status = 411, .body = "the length of the body is missing\n"};
  if (std::strtoull(length, nullptr, 10) > options.max_body + kMostDropped)
    return ServerResponse{.status = 413, .body = "the body is too long\n"};
  return std::nullopt;
}

ServerResponse HttpServer::Impl::answer(MHD_Connection* connection, const char* path, const char* method,
                                        Reading& reading) const {
  ServerRequest request{.method = method,
                        .path = path,
                        .query = std::move(reading.query),
                        .body = std::move(reading.body),
                        .peer = address_of(connection)};
  const Handler* const handler = find(request.path);
  if (!handler) return {.status = 404, .body = "not found\n"};
  MHD_get_connection_values(
      connection, MHD_HEADER_KIND,
      [](void* cls, MHD_ValueKind, const char* name, const char* value) {
        static_cast<ServerRequest*>(cls)->headers.push_back({name, value ? value : ""});
        return MHD_YES;
      },
      &request);
  try {
    return (*handler)(request);
  } catch (const std::exception&) {  // must not cross C code
    return {.status = 500, .body = "internal error\n"};
  }
}

MHD_Result HttpServer::Impl::send(MHD_Connection* connection, ServerResponse response) const {
  MHD_Response* made = nullptr;
  if (response.stream) {
    // Also the time in which the next piece is waited for counts as one in which nothing is written.
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, kStreamTimeout);
    made = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kBlock, &send_more,
                                             new Sending{std::move(response.stream), stop.get_token()},
                                             &end_sending);
  } else {
    made = MHD_create_response_from_buffer(response.body.size(), response.body.data(), MHD_RESPMEM_MUST_COPY);
  }
  if (!made) return MHD_NO;
  bool cached = false;
  for (const Header& header : response.headers) {
    MHD_add_response_header(made, header.name.c_str(), header.value.c_str());
    cached = cached || same_name(header.name, "Cache-Control");
  }
  if (!cached) MHD_add_response_header(made, "Cache-Control", "no-store");
  MHD_add_response_header(made, "Content-Type", response.content_type.c_str());
  MHD_add_response_header(made, "X-Content-Type-Options", "nosniff");
  if (response.status == 405)
    MHD_add_response_header(made, "Allow", options.max_body == 0 ? "GET, HEAD" : "GET, HEAD, POST");
  const MHD_Result queued = MHD_queue_response(connection, static_cast<unsigned int>(response.status), made);
  MHD_destroy_response(made);  // the connection has a reference of its own
  return queued;
}

void* HttpServer::Impl::on_uri(void* /*cls*/, const char* uri, MHD_Connection* /*connection*/) {
  auto* const reading = new Reading;
  if (const char* const query = std::strchr(uri, '?')) reading->query = query + 1;
  return reading;
}

MHD_Result HttpServer::Impl::on_access(void* cls, MHD_Connection* connection, const char* path,
                                       const char* method, const char* /*version*/, const char* data,
                                       std::size_t* size, void** request) {
  const Impl& self = *static_cast<const Impl*>(cls);
  auto& reading = *static_cast<Reading*>(*request);
  if (!std::exchange(reading.begun, true)) {
    if (auto refused = self.refusal(connection, method)) return self.send(connection, std::move(*refused));
    return MHD_YES;
  }
  if (*size > 0) {
    reading.too_long = reading.too_long || reading.body.size() + *size > self.options.max_body;
    if (!reading.too_long) reading.body.append(data, *size);
    *size = 0;
    return MHD_YES;
  }
  if (reading.too_long) return self.send(connection, {.status = 413, .body = "the body is too long\n"});
  return self.send(connection, self.answer(connection, path, method, reading));
}

void HttpServer::Impl::on_completed(void* /*cls*/, MHD_Connection* /*connection*/, void** request,
                                    MHD_RequestTerminationCode /*code*/) {
  delete static_cast<Reading*>(*request);
  *request = nullptr;
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
  auto listening = listen_on(bind);
  if (!listening) return tl::unexpected<base::Error>(listening.error());
  auto impl = std::make_unique<Impl>(std::move(handlers), options);
  unsigned int flags = options.streams
                           ? MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL
                           : MHD_USE_EPOLL_INTERNAL_THREAD;
  const auto pointer = [](const void* to) { return const_cast<void*>(to); };
  std::vector<MHD_OptionItem> settings = {
      {MHD_OPTION_LISTEN_SOCKET, ::fcntl(listening->get(), F_DUPFD_CLOEXEC, 0),
       nullptr},  // the daemon closes it
      {MHD_OPTION_CONNECTION_LIMIT, options.connections, nullptr},
      {MHD_OPTION_CONNECTION_TIMEOUT, options.timeout.count(), nullptr},
      {MHD_OPTION_THREAD_STACK_SIZE, kThreadStack, nullptr},
      {MHD_OPTION_URI_LOG_CALLBACK, reinterpret_cast<intptr_t>(&Impl::on_uri), nullptr},
      {MHD_OPTION_NOTIFY_COMPLETED, reinterpret_cast<intptr_t>(&Impl::on_completed), nullptr}};
  if (!options.streams) settings.push_back({MHD_OPTION_THREAD_POOL_SIZE, kThreads, nullptr});
  if (!options.tls_pem.empty()) {
    flags |= MHD_USE_TLS;
    const char* const pem = impl->options.tls_pem.c_str();
    settings.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, pointer(pem)});
    settings.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, pointer(pem)});
    settings.push_back({MHD_OPTION_HTTPS_PRIORITIES, 0, pointer(kTlsPriorities)});
  }
  settings.push_back({MHD_OPTION_END, 0, nullptr});
  impl->daemon = MHD_start_daemon(flags, 0, nullptr, nullptr, &Impl::on_access, impl.get(), MHD_OPTION_ARRAY,
                                  settings.data(), MHD_OPTION_END);
  if (!impl->daemon) {
    return base::fail(
        base::ErrorCode::kIo,
        "cannot serve on '" + bind + "'" + (options.tls_pem.empty() ? "" : ": is the certificate good?"));
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

int HttpServer::port() const {
  const auto* info = MHD_get_daemon_info(impl_->daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}

}  // namespace gpupool::net
