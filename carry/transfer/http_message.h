// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "failure/failure.h"

namespace gpupool::carry {

struct Header {
  std::string name;
  std::string value;
};

// The body of a request, read in pieces. It may be read again from an earlier offset. Not thread-safe.
class BodySource {
 public:
  virtual ~BodySource() = default;
  virtual std::int64_t size() const = 0;
  // Fills the start of the `capacity` bytes at `to` with the bytes at `offset`. Returns how many; 0 is an
  // error.
  virtual Outcome<std::size_t> read(std::int64_t offset, char* to, std::size_t capacity) = 0;
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;  // as parse_url() accepts
  std::vector<Header> headers = {};
  std::string body = {};
  BodySource* source = nullptr;            // in place of `body`; must outlive the request
  std::chrono::milliseconds time_left{0};  // from the call to the last byte
  std::chrono::milliseconds idle{60'000};  // without a byte in either direction
};

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers = {};  // names in lower case
  std::string body = {};  // of a 2xx at most 16 MiB, of others the first 64 KiB; empty if a sink got it

  // Empty if there is none.
  const std::string& header(const std::string& name) const;
  // The header Content-Length; -1 if there is none.
  std::int64_t length() const;
};

// Receives the body of a 2xx answer. A failure ends the exchange, which returns it.
class BodySink {
 public:
  virtual ~BodySink() = default;
  // Called once before the first piece, also if there is none.
  virtual Outcome<void> begin(const HttpAnswer& head) = 0;
  virtual Outcome<void> piece(std::string_view bytes) = 0;
};

}  // namespace gpupool::carry
