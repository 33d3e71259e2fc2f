// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/rfc3339.h"

namespace gpupool::base::json {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::size_t kMaxDepth = 200;

// The buffers of the parser, reused for the next text unless they have become large.
struct Room {
  ondemand::parser parser;
  std::string text;  // with the padding that simdjson needs behind it

  simdjson::simdjson_result<ondemand::document> open(std::string_view json) {
    text.reserve(json.size() + simdjson::SIMDJSON_PADDING);
    text = json;
    if (parser.capacity() < json.size()) {
      if (const auto error = parser.allocate(std::bit_ceil(json.size()))) return error;
    }
    return parser.iterate(text.data(), text.size(), text.capacity());
  }
};

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; });
}

void append_quoted(std::string& out, std::string_view text) {
  if (!is_plain(text)) {
    out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

// Fills C++ objects from one text. Stores the error and the path to it.
class Reader {
 public:
  std::string error() const {
    return (path_.empty() ? "" : path_.substr(path_.front() == '.' ? 1 : 0) + ": ") + problem_;
  }

  // json: a value, or the whole document.
  template <class Json>
  bool fill(Json& json, const Type& type, void* target) {
    switch (type.kind) {
      case Kind::kObject:
        return fill_object(json, type, target);
      case Kind::kMap:
        return fill_map(json, type, target);
      case Kind::kArray:
        return fill_array(json, type, target);
      case Kind::kRaw: {
        raw_.clear();
        const auto depth = depth_;
        if (copy(json)) {
          static_cast<RawJson*>(target)->text = raw_;
          return true;
        }
        if (!too_deep_ || depth == 0) return false;
        // The reader of the rest of the object can report this part as wrong.
        static_cast<RawJson*>(target)->text = kTooDeep;
        too_deep_ = false;
        problem_.clear();
        depth_ = depth;
        return true;
      }
      case Kind::kString:
        return fill_text(json, "expected a string", [&](std::string_view text) {
          return *static_cast<std::string*>(target) = text, true;
        });
      case Kind::kWord:
        return fill_text(json, "expected a string",
                         [&](std::string_view text) { return *static_cast<Word*>(target) = text, true; });
      case Kind::kTime:
        return fill_text(json, "expected an RFC 3339 time", [&](std::string_view text) {
          const auto time = parse_rfc3339(text);
          if (time) *static_cast<WallTime*>(target) = *time;
          return time.has_value();
        });
      case Kind::kBool:
        return check(json.get_bool().get(*static_cast<bool*>(target)), "expected true or false");
      case Kind::kDouble:
        return check(json.get_double().get(*static_cast<double*>(target)), "expected a number");
      case Kind::kInt:
        return fill_int(json, *static_cast<std::int64_t*>(target));
    }
    return fail("unexpected type");
  }

  bool check(simdjson::error_code error, const char* expected) {
    if (error == simdjson::SUCCESS) return true;
    return fail(error == simdjson::INCORRECT_TYPE
                    ? std::string(expected)
                    : std::string("parse error: ") + simdjson::error_message(error));
  }

 private:
  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  // Builds a path such as "status.conditions[2].type". Keys of maps appear as ["key"], because they may
  // contain dots.
  bool fail_in(const std::string& step) {
    path_.insert(0, step);
    return false;
  }

  bool enter() {
    too_deep_ = ++depth_ > kMaxDepth;
    return !too_deep_ || fail("nested deeper than 200");
  }

  template <class Json>
  bool fill_object(Json& json, const Type& type, void* target) {
    return each_field(json, [&](std::string_view key, ondemand::value& value) {
      const auto* field = find(type, key);
      if (field == nullptr || is_null(value)) return true;
      return fill(value, field->type(), field->at(target)) || fail_in("." + std::string(key));
    });
  }

  template <class Json>
  bool fill_map(Json& json, const Type& type, void* target) {
    type.clear(target);
    return each_field(json, [&](std::string_view key, ondemand::value& value) {
      std::string name(key);
      void* const slot = type.insert(target, name);
      return fill_element(value, type.element(), slot) || fail_in("[" + quote(name) + "]");
    });
  }

  template <class Json>
  bool fill_array(Json& json, const Type& type, void* target) {
    type.clear(target);
    std::size_t index = 0;
    return each_element(json, [&](ondemand::value& value) {
      if (!fill_element(value, type.element(), type.append(target)))
        return fail_in("[" + std::to_string(index) + "]");
      ++index;
      return true;
    });
  }

  bool fill_element(ondemand::value& value, const Type& type, void* target) {
    if (type.kind != Kind::kRaw && is_null(value)) return true;
    return fill(value, type, target);
  }

  template <class Json, class Take>
  bool fill_text(Json& json, const char* expected, const Take& take) {
    std::string_view text;
    if (!check(json.get_string().get(text), expected)) return false;
    return take(text) || fail(expected);
  }

  template <class Json>
  bool fill_int(Json& json, std::int64_t& target) {
    if (json.get_int64().get(target) == simdjson::SUCCESS) return true;
    double value = 0;
    const auto error = json.get_double().get(value);
    const bool fits =
        error == simdjson::SUCCESS && std::trunc(value) == value && value > -0x1.0p63 && value < 0x1.0p63;
    if (!fits) return fail("expected a 64-bit integer");
    target = static_cast<std::int64_t>(value);
    return true;
  }

  // Copies a value as compact text; the order of keys and the spelling of numbers are kept.
  template <class Json>
  bool copy(Json& json) {
    ondemand::json_type type{};
    if (!check(json.type().get(type), "")) return false;
    switch (type) {
      case ondemand::json_type::object:
        return copy_object(json);
      case ondemand::json_type::array:
        return copy_array(json);
      case ondemand::json_type::string:
        return fill_text(json, "expected a string",
                         [&](std::string_view text) { return append_quoted(raw_, text), true; });
      case ondemand::json_type::number:
        return copy_number(json);
      case ondemand::json_type::boolean: {
        bool value = false;
        if (!check(json.get_bool().get(value), "expected true or false")) return false;
        raw_ += value ? "true" : "false";
        return true;
      }
      case ondemand::json_type::null:
        if (!is_null(json)) return fail("parse error");
        raw_ += "null";
        return true;
    }
    return fail("parse error");
  }

  template <class Json>
  bool copy_object(Json& json) {
    raw_ += '{';
    bool first = true;
    const bool done = each_field(json, [&](std::string_view key, ondemand::value& value) {
      if (!std::exchange(first, false)) raw_ += ',';
      append_quoted(raw_, key);
      raw_ += ':';
      return copy(value);
    });
    raw_ += '}';
    return done;
  }

  template <class Json>
  bool copy_array(Json& json) {
    raw_ += '[';
    bool first = true;
    const bool done = each_element(json, [&](ondemand::value& value) {
      if (!std::exchange(first, false)) raw_ += ',';
      return copy(value);
    });
    raw_ += ']';
    return done;
  }

  template <class Json>
  bool copy_number(Json& json) {
    std::string_view token;
    if (!check(simdjson::simdjson_result<std::string_view>(json.raw_json_token()).get(token), ""))
      return false;
    token = token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
    double value = 0;
    if (!check(json.get_double().get(value), "expected a number")) return false;
    raw_ += token;
    return true;
  }

  template <class Json>
  static bool is_null(Json& json) {
    return simdjson::simdjson_result<bool>(json.is_null()).value_unsafe();
  }

  template <class Json, class Take>
  bool each_field(Json& json, const Take& take) {
    ondemand::object object;
    if (!check(json.get_object().get(object), "expected an object") || !enter()) return false;
    for (auto entry : object) {
      ondemand::field field;
      std::string_view key;
      if (!check(std::move(entry).get(field), "") || !check(field.unescaped_key().get(key), "")) return false;
      if (!take(key, field.value())) return false;
    }
    --depth_;
    return true;
  }

  template <class Json, class Take>
  bool each_element(Json& json, const Take& take) {
    ondemand::array array;
    if (!check(json.get_array().get(array), "expected an array") || !enter()) return false;
    for (auto entry : array) {
      ondemand::value value;
      if (!check(std::move(entry).get(value), "") || !take(value)) return false;
    }
    --depth_;
    return true;
  }

  static const Field* find(const Type& type, std::string_view key) {
    const auto found = std::find_if(type.fields.begin(), type.fields.end(),
                                    [&](const Field& field) { return field.name == key; });
    return found == type.fields.end() ? nullptr : &*found;
  }

  std::string raw_;
  std::size_t depth_ = 0;
  bool too_deep_ = false;
  std::string path_;
  std::string problem_;
};

Result<void> read(Room& room, std::string_view text, const Type& type, void* target) {
  Reader reader;
  ondemand::document document;
  bool done = reader.check(room.open(text).get(document), "") && reader.fill(document, type, target);
  if (done && document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    done = reader.check(simdjson::TRAILING_CONTENT, "");
  }
  if (done) return {};
  return fail(ErrorCode::kParse, "JSON: " + reader.error());
}

}  // namespace

Result<void> read(std::string_view text, const Type& type, void* target) {
  constexpr auto kLarge = std::size_t{256} << 10;
  if (text.size() > kLarge) {
    Room room;
    return read(room, text, type, target);
  }
  thread_local Room room;
  return read(room, text, type, target);
}

std::string quote(std::string_view text) {
  std::string quoted;
  append_quoted(quoted, text);
  return quoted;
}

}  // namespace gpupool::base::json
