// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>

#include "net/transport.h"

namespace gpupool::net {

// One request in progress: the data that libcurl's callbacks read and fill. `self` of a callback is the
// CurlExchange. Exceptions must not cross libcurl's C code: a callback stores them and ends the transfer.
class CurlExchange {
 public:
  // sink: null to collect the whole body. REQUIRES: request and sink outlive this.
  CurlExchange(const HttpRequest& request, const BodySink* sink) : request_(request), sink_(sink) {}

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_send(char* buffer, std::size_t size, std::size_t count, void* self);

  const HttpRequest& request() const { return request_; }
  bool streaming() const { return sink_ != nullptr; }
  // Zero: no limit.
  std::chrono::milliseconds idle_limit() const {
    return sink_ ? request_.idle_timeout.value_or(std::chrono::milliseconds::zero())
                 : std::chrono::milliseconds::zero();
  }
  HttpResponse& response() { return response_; }
  std::chrono::steady_clock::time_point last_activity() const { return last_activity_; }
  // libcurl treats a connection that ends within the headers as a complete answer, so the caller must check
  // this.
  bool headers_complete() const { return headers_complete_; }
  bool ended_by_sink() const { return ended_by_sink_; }
  // True once an error's body has reached the limit; the rest is not read.
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
