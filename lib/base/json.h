// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/boxed.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/word.h"

// Reads JSON directly into structs and keeps only the fields that a struct names. A struct names them by a
// specialisation of Schema:
//
//   template <> struct base::json::Schema<Taint> {
//     static constexpr auto fields = std::array{field<&Taint::key>("key"), field<&Taint::effect>("effect")};
//   };
//
// A Schema may contain kUsualCount: how many elements a vector of the type usually has.
//
// Members may be std::string, Word, bool, std::int64_t, double, WallTime (RFC 3339), RawJson, another struct
// with a Schema, and std::optional, Boxed, std::vector or std::map<std::string, ...> of those. Unknown fields
// are skipped; only their brackets and UTF-8 are checked. null means absent.
//
// All functions are thread-safe.
namespace gpupool::base::json {

// The text of a RawJson member whose value is nested deeper than 200 levels. The rest of its object is still
// read.
inline constexpr char kTooDeep[] = R"("nested deeper than 200 levels")";

// A part of a document, kept as compact JSON text. The order of keys and the spelling of numbers are kept.
struct RawJson {
  std::string text;
  bool empty() const { return text.empty(); }
  bool operator==(const RawJson&) const = default;
};

enum class Kind { kString, kWord, kBool, kInt, kDouble, kTime, kRaw, kObject, kArray, kMap };

struct Field;

// How to fill one C++ type. These tables are constant data; nothing is registered at run time.
struct Type {
  Kind kind;
  std::span<const Field> fields = {};                     // kObject
  void* (*append)(void* array) = nullptr;                 // kArray: returns the address of a new last element
  void* (*insert)(void* map, std::string key) = nullptr;  // kMap: returns the address of the key's value
  const Type& (*element)() = nullptr;                     // kArray, kMap
  void (*clear)(void* container) = nullptr;  // kArray, kMap: when a field occurs twice, the last one counts
};

struct Field {
  std::string_view name;
  void* (*at)(void* owner);  // returns the address of the member; fills an empty optional first
  const Type& (*type)();
};

template <class T>
struct Schema;

template <class T>
const Type& type_of();

namespace detail {

template <class T>
struct Unwrapped {
  using type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = T;
};
template <class T>
struct Unwrapped<Boxed<T>> {
  using type = T;
};

template <auto Member>
struct MemberOf;
template <class Owner, class T, T Owner::* Member>
struct MemberOf<Member> {
  using Value = typename Unwrapped<T>::type;
  static void* at(void* owner) {
    T& member = static_cast<Owner*>(owner)->*Member;
    if constexpr (std::is_same_v<T, Value>) {
      return &member;
    } else {
      return member ? &*member : &member.emplace();
    }
  }
};

template <class T>
struct Container {
  static constexpr bool is_array = false;
  static constexpr bool is_map = false;
};
template <class T>
struct Container<std::vector<T>> {
  static constexpr bool is_array = true;
  static constexpr bool is_map = false;
  static void* append(void* array) {
    auto& elements = *static_cast<std::vector<T>*>(array);
    if constexpr (requires { Schema<T>::kUsualCount; }) {
      if (elements.empty()) elements.reserve(Schema<T>::kUsualCount);
    }
    return &elements.emplace_back();
  }
  static const Type& element() { return type_of<T>(); }
  static void clear(void* array) { static_cast<std::vector<T>*>(array)->clear(); }
};
template <class T>
struct Container<std::map<std::string, T>> {
  static constexpr bool is_array = false;
  static constexpr bool is_map = true;
  static void* insert(void* map, std::string key) {
    return &(*static_cast<std::map<std::string, T>*>(map))[std::move(key)];
  }
  static const Type& element() { return type_of<T>(); }
  static void clear(void* map) { static_cast<std::map<std::string, T>*>(map)->clear(); }
};

template <class T>
constexpr Type make_type() {
  if constexpr (std::is_same_v<T, std::string>) {
    return {.kind = Kind::kString};
  } else if constexpr (std::is_same_v<T, Word>) {
    return {.kind = Kind::kWord};
  } else if constexpr (std::is_same_v<T, bool>) {
    return {.kind = Kind::kBool};
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return {.kind = Kind::kInt};
  } else if constexpr (std::is_same_v<T, double>) {
    return {.kind = Kind::kDouble};
  } else if constexpr (std::is_same_v<T, WallTime>) {
    return {.kind = Kind::kTime};
  } else if constexpr (std::is_same_v<T, RawJson>) {
    return {.kind = Kind::kRaw};
  } else if constexpr (Container<T>::is_array) {
    return {.kind = Kind::kArray,
            .append = &Container<T>::append,
            .element = &Container<T>::element,
            .clear = &Container<T>::clear};
  } else if constexpr (Container<T>::is_map) {
    return {.kind = Kind::kMap,
            .insert = &Container<T>::insert,
            .element = &Container<T>::element,
            .clear = &Container<T>::clear};
  } else {
    return {.kind = Kind::kObject, .fields = std::span<const Field>(Schema<T>::fields)};
  }
}

}  // namespace detail

template <class T>
const Type& type_of() {
  static constexpr Type type = detail::make_type<T>();
  return type;
}

template <auto Member>
constexpr Field field(std::string_view name) {
  return {name, &detail::MemberOf<Member>::at, &type_of<typename detail::MemberOf<Member>::Value>};
}

// A field of the object that is a member of a member: `Outer` groups fields and is no object of its own in
// the document.
template <auto Outer, auto Member>
constexpr Field field(std::string_view name) {
  return {name, [](void* owner) { return detail::MemberOf<Member>::at(detail::MemberOf<Outer>::at(owner)); },
          &type_of<typename detail::MemberOf<Member>::Value>};
}

// Fills `target`. A syntax error, a value of another JSON type than the struct has, or nesting deeper than
// 200 levels returns kParse; the message contains the path. `target` may then be partly filled.
// REQUIRES: `target` points to an object of the C++ type that `type` describes.
Result<void> read(std::string_view text, const Type& type, void* target);

template <class T>
Result<T> read(std::string_view text) {
  T value{};
  if (auto done = read(text, type_of<T>(), &value); !done) return tl::unexpected<Error>(done.error());
  return value;
}

// Returns `text` as a JSON string literal with its quotes. Invalid UTF-8 is replaced.
std::string quote(std::string_view text);

}  // namespace gpupool::base::json
