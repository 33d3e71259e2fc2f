// SPDX-License-Identifier: Apache-2.0
#include "transfer/http_exchange.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace gpupool::carry {
namespace {

constexpr std::size_t kMaxErrorBody = std::size_t{64} << 10U;
constexpr std::size_t kMaxBody = std::size_t{16} << 20U;

std::string_view without_space(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

}  // namespace

// Returns step(), or false if it throws.
template <class Step>
bool HttpExchange::guarded(Step step) {
  try {
    return step();
  } catch (...) {
    thrown_ = std::current_exception();
    return false;
  }
}

std::size_t HttpExchange::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  auto& exchange = *static_cast<HttpExchange*>(self);
  const std::string_view line(data, size * count);
  const bool good = exchange.guarded([&] {
    exchange.header(line);
    return !without_space(line).empty() || exchange.end_of_headers();
  });
  return good ? line.size() : 0;
}

std::size_t HttpExchange::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  auto& exchange = *static_cast<HttpExchange*>(self);
  return exchange.guarded([&] { return exchange.body({data, size * count}); }) ? size * count : 0;
}

std::size_t HttpExchange::on_send(char* to, std::size_t size, std::size_t count, void* self) {
  auto& exchange = *static_cast<HttpExchange*>(self);
  std::size_t sent = 0;
  const bool good = exchange.guarded([&] {
    sent = exchange.send(to, size * count);
    return true;
  });
  return good ? sent : CURL_READFUNC_ABORT;
}

// libcurl goes back when a kept connection turns out to be closed.
int HttpExchange::on_seek(void* self, std::int64_t offset, int origin) {
  auto& exchange = *static_cast<HttpExchange*>(self);
  if (origin != SEEK_SET || offset < 0 || offset > exchange.body_size()) return CURL_SEEKFUNC_FAIL;
  exchange.sent_ = offset;
  return CURL_SEEKFUNC_OK;
}

std::int64_t HttpExchange::body_size() const {
  return request_.source != nullptr ? request_.source->size()
                                    : static_cast<std::int64_t>(request_.body.size());
}

std::size_t HttpExchange::send(char* to, std::size_t capacity) {
  last_activity_ = std::chrono::steady_clock::now();
  const auto wanted = static_cast<std::size_t>(
      std::min<std::int64_t>(body_size() - sent_, static_cast<std::int64_t>(capacity)));
  if (wanted == 0) return 0;
  if (request_.source == nullptr) {
    request_.body.copy(to, wanted, static_cast<std::size_t>(sent_));
    sent_ += static_cast<std::int64_t>(wanted);
    return wanted;
  }
  auto got = request_.source->read(sent_, to, wanted);
  if (!got) {
    failure_ = std::move(got.error());
    return CURL_READFUNC_ABORT;
  }
  sent_ += static_cast<std::int64_t>(*got);
  return *got;
}

void HttpExchange::header(std::string_view line) {
  last_activity_ = std::chrono::steady_clock::now();
  if (line.starts_with("HTTP/")) {  // a new answer, for example after 100 Continue: only the last one counts
    answer_.headers.clear();
    headers_complete_ = false;
    const std::size_t space = line.find(' ');
    answer_.status = 0;
    if (space != std::string_view::npos)
      std::from_chars(line.data() + space + 1, line.data() + line.size(), answer_.status);
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  std::string& value = answer_.headers[lower_case(without_space(line.substr(0, colon)))];
  if (!value.empty()) value += ", ";  // RFC 9110 5.3: repeated headers form a list
  value += without_space(line.substr(colon + 1));
}

bool HttpExchange::end_of_headers() {
  headers_complete_ = true;
  if (sink_ == nullptr || !success() || begun_) return true;
  begun_ = true;
  return keep(sink_->begin(answer_));
}

bool HttpExchange::body(std::string_view piece) {
  bool more = true;
  if (sink_ != nullptr && success()) {
    more = keep(sink_->piece(piece));
  } else {
    const std::size_t limit = success() ? kMaxBody : kMaxErrorBody;
    answer_.body += piece.substr(0, limit - answer_.body.size());
    has_enough_ = answer_.body.size() == limit;
    more = !has_enough_;
  }
  // Measured after the sink, so that the sink's own time does not count as silence of the server.
  last_activity_ = std::chrono::steady_clock::now();
  return more;
}

bool HttpExchange::keep(const Outcome<void>& done) {
  if (!done) failure_ = done.error();
  return done.has_value();
}

}  // namespace gpupool::carry
