// SPDX-License-Identifier: Apache-2.0
#include "net/curl_exchange.h"

#include <curl/curl.h>

#include <charconv>

namespace gpupool::net {

namespace {

constexpr std::size_t kMaxErrorBody = std::size_t{1} << 20;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

}  // namespace

std::size_t CurlExchange::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  try {
    exchange.header({data, size * count});
    return size * count;
  } catch (...) {
    exchange.thrown_ = std::current_exception();
    return 0;
  }
}

std::size_t CurlExchange::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  try {
    return exchange.body({data, size * count}) ? size * count : 0;
  } catch (...) {
    exchange.thrown_ = std::current_exception();
    return 0;
  }
}

std::size_t CurlExchange::on_send(char* buffer, std::size_t size, std::size_t count, void* self) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  const std::size_t length = exchange.request_.body.copy(buffer, size * count, exchange.sent_);
  exchange.sent_ += length;
  return length;
}

void CurlExchange::header(std::string_view line) {
  last_activity_ = std::chrono::steady_clock::now();
  if (line.starts_with("HTTP/")) {  // a new answer, for example after 100 Continue: only the last one counts
    response_.headers.clear();
    headers_complete_ = false;
    const std::size_t space = line.find(' ');
    response_.status = 0;
    if (space != std::string_view::npos) {
      std::from_chars(line.data() + space + 1, line.data() + line.size(), response_.status);
    }
    return;
  }
  if (trimmed(line).empty()) headers_complete_ = true;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  std::string& value = response_.headers[lower(trimmed(line.substr(0, colon)))];
  if (!value.empty()) value += ", ";  // RFC 9110 5.3: repeated headers form a list
  value += trimmed(line.substr(colon + 1));
}

bool CurlExchange::body(std::string_view piece) {
  const bool success = response_.status >= 200 && response_.status < 300;
  if (sink_ && success) {
    ended_by_sink_ = !(*sink_)(piece);
  } else if (sink_) {
    response_.body += piece.substr(0, kMaxErrorBody - response_.body.size());
    has_enough_ = response_.body.size() == kMaxErrorBody;
  } else {
    response_.body += piece;
  }
  // Measured after the sink, so that the sink's own time does not count as silence of the server.
  last_activity_ = std::chrono::steady_clock::now();
  return !ended_by_sink_ && !has_enough_;
}

}  // namespace gpupool::net
