#pragma once

#include <chrono>
#include <cstddef>
#include <exception>

#include "net/transport.h"

namespace gpupool::net {

// One request on its way: what libcurl's callbacks read and fill. The callbacks take the Exchange as their
// `self` and keep exceptions from crossing libcurl's C code: they store one and give up the transfer.
class CurlExchange {
 public:
  // sink: null to collect the whole body. Both references must outlive this.
  CurlExchange(const HttpRequest& request, const BodySink* sink) : request_(request), sink_(sink) {}

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_send(char* buffer, std::size_t size, std::size_t count, void* self);

  const HttpRequest& request() const { return request_; }
  bool streaming() const { return sink_ != nullptr; }
  // Zero: none.
  std::chrono::milliseconds idle_limit() const {
    return sink_ ? request_.idle_timeout.value_or(std::chrono::milliseconds::zero())
                 : std::chrono::milliseconds::zero();
  }
  HttpResponse& response() { return response_; }
  std::chrono::steady_clock::time_point last_activity() const { return last_activity_; }
  // libcurl takes a connection that ends within the headers for a complete answer.
  bool headers_complete() const { return headers_complete_; }
  bool ended_by_sink() const { return ended_by_sink_; }
  // The rest of an error's long body is not wanted.
  bool has_enough() const { return has_enough_; }
  const std::exception_ptr& thrown() const { return thrown_; }

 private:
  void header(std::string_view line);
  bool body(std::string_view piece);

  const HttpRequest& request_;
  const BodySink* sink_;
  HttpResponse response_;
  std::size_t sent_ = 0;
  std::chrono::steady_clock::time_point last_activity_ = std::chrono::steady_clock::now();
  bool headers_complete_ = false;
  bool ended_by_sink_ = false;
  bool has_enough_ = false;
  std::exception_ptr thrown_;
};

}  // namespace gpupool::net
