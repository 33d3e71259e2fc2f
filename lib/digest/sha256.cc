// SPDX-License-Identifier: Apache-2.0
#include "digest/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace gpupool::digest {

struct Sha256::Context {
  Context() { reset(); }
  ~Context() { EVP_MD_CTX_free(md); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  void reset() {
    if (md == nullptr || EVP_DigestInit_ex(md, EVP_sha256(), nullptr) != 1)
      throw std::runtime_error("OpenSSL has no SHA-256");
  }
  EVP_MD_CTX* md = EVP_MD_CTX_new();
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::add(std::string_view bytes) { EVP_DigestUpdate(context_->md, bytes.data(), bytes.size()); }

std::string Sha256::hex() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(context_->md, bytes.data(), &size);
  context_->reset();
  std::string text;
  text.reserve(2UL * size);
  for (unsigned int i = 0; i < size; ++i) {
    text += kDigits[bytes.at(i) >> 4U];
    text += kDigits[bytes.at(i) & 15U];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

}  // namespace gpupool::digest
