// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>

#include "transfer/http_message.h"

namespace gpupool::carry {

// One request in progress: what libcurl's callbacks read and fill. Their last argument is the HttpExchange.
// Exceptions and failures must not cross libcurl's C code: a callback keeps them and ends the exchange.
class HttpExchange {
 public:
  // sink: null to collect the body. REQUIRES: both outlive this.
  HttpExchange(const HttpRequest& request, BodySink* sink) : request_(request), sink_(sink) {}

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_send(char* to, std::size_t size, std::size_t count, void* self);
  static int on_seek(void* self, std::int64_t offset, int origin);  // libcurl's curl_off_t

  const HttpRequest& request() const { return request_; }
  bool has_body() const { return request_.source != nullptr || !request_.body.empty(); }
  std::int64_t body_size() const;
  HttpAnswer& answer() { return answer_; }
  std::chrono::steady_clock::time_point last_activity() const { return last_activity_; }
  bool headers_complete() const { return headers_complete_; }
  // True once an error's body has reached the limit; the rest is not read.
  bool has_enough() const { return has_enough_; }
  const std::optional<Failure>& failure() const { return failure_; }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  template <class Step>
  bool guarded(Step step);
  void header(std::string_view line);
  bool end_of_headers();
  bool body(std::string_view piece);
  std::size_t send(char* to, std::size_t capacity);
  bool keep(const Outcome<void>& done);
  bool success() const { return answer_.status >= 200 && answer_.status < 300; }

  const HttpRequest& request_;
  BodySink* sink_;
  HttpAnswer answer_;
  std::int64_t sent_ = 0;
  std::chrono::steady_clock::time_point last_activity_ = std::chrono::steady_clock::now();
  bool headers_complete_ = false;
  bool begun_ = false;
  bool has_enough_ = false;
  std::optional<Failure> failure_;
  std::exception_ptr thrown_;
};

}  // namespace gpupool::carry
