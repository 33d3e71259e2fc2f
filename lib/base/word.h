// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

namespace gpupool::base {

// A string that rarely has more than 15 bytes, in 16 bytes instead of the 32 of std::string. Orders like
// std::string. Longer texts are on the heap.
class Word {
 public:
  Word() = default;
  // NOLINTBEGIN(google-explicit-constructor): used like a std::string
  Word(std::string_view text) { store(text); }
  Word(const std::string& text) { store(text); }
  Word(const char* text) { store(text); }
  operator std::string_view() const { return view(); }
  // NOLINTEND(google-explicit-constructor)
  Word(const Word& other) { store(other.view()); }
  Word(Word&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Word& operator=(const Word& other);
  Word& operator=(Word&& other) noexcept;
  ~Word() { drop(); }

  std::string_view view() const;
  std::string string() const { return std::string(view()); }
  bool empty() const { return view().empty(); }

  friend bool operator==(const Word& a, const Word& b) { return a.view() == b.view(); }
  template <class Text>
    requires(std::convertible_to<const Text&, std::string_view> && !std::same_as<Text, Word>)
  friend bool operator==(const Word& a, const Text& b) {
    return a.view() == std::string_view(b);
  }
  friend std::ostream& operator<<(std::ostream& out, const Word& word);

 private:
  void store(std::string_view text);  // ignores what the bytes contain
  void drop();

  // The first 15 bytes are the text and the last byte is its size; or the last byte is kElsewhere and the
  // first are a pointer to a std::string.
  static constexpr std::size_t kRoom = 15;
  static constexpr char kElsewhere = 16;
  alignas(8) std::array<char, kRoom + 1> bytes_{};
};

}  // namespace gpupool::base
