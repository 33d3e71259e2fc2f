// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace gpupool::digest {

// SHA-256 of bytes that come in pieces. Not thread-safe.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void add(std::string_view bytes);
  // Returns 64 lower-case hex digits and begins anew.
  std::string hex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// Returns 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace gpupool::digest
