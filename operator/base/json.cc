#include "base/json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/rfc3339.h"

namespace gpupool::base::json {

namespace {

constexpr std::size_t kMaxDepth = 200;

// Collects a subtree as compact text.
class RawWriter {
 public:
  void start(RawJson& target) {
    target_ = &target;
    target.text.clear();
    comma_ = false;
  }
  bool active() const { return target_ != nullptr; }

  void value(std::string_view text) {
    separate();
    target_->text += text;
    comma_ = true;
    if (depth_ == 0) target_ = nullptr;
  }
  void key(std::string_view name) {
    separate();
    target_->text += quote(name);
    target_->text += ':';
    comma_ = false;
  }
  void open(char bracket) {
    separate();
    target_->text += bracket;
    comma_ = false;
    ++depth_;
  }
  void close(char bracket) {
    target_->text += bracket;
    comma_ = true;
    if (--depth_ == 0) target_ = nullptr;
  }

 private:
  void separate() {
    if (comma_) target_->text += ',';
  }

  RawJson* target_ = nullptr;
  std::size_t depth_ = 0;
  bool comma_ = false;
};

// Where a value goes, and what it is there.
struct Slot {
  const Type* type = nullptr;  // null: nobody wants the value
  void* target = nullptr;
};

// Takes nlohmann's events. Frames hold addresses of C++ objects: they stay valid because only the innermost
// open array grows.
class Reader {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  Reader(const Type& type, void* target) : root_{&type, target} {}

  const std::string& error() const { return error_; }

  bool null() {
    if (skipped_ > 0) return true;
    if (raw_.active()) return raw_.value("null"), true;
    if (!frames_.empty() && frames_.back().type->kind == Kind::kObject) return true;
    const Slot slot = next_slot();
    if (slot.type->kind == Kind::kRaw) return raw_.start(*as<RawJson>(slot)), raw_.value("null"), true;
    return !frames_.empty() || mismatch(slot);
  }

  bool boolean(bool value) {
    const Slot slot = scalar_slot(value ? "true" : "false");
    if (!slot.type) return true;
    if (slot.type->kind != Kind::kBool) return mismatch(slot);
    *as<bool>(slot) = value;
    return true;
  }

  bool number_integer(number_integer_t value) {
    const Slot slot = scalar_slot([&] { return std::to_string(value); });
    if (!slot.type) return true;
    if (slot.type->kind == Kind::kDouble) return *as<double>(slot) = static_cast<double>(value), true;
    if (slot.type->kind != Kind::kInt) return mismatch(slot);
    *as<std::int64_t>(slot) = value;
    return true;
  }

  bool number_unsigned(number_unsigned_t value) {
    const Slot slot = scalar_slot([&] { return std::to_string(value); });
    if (!slot.type) return true;
    if (slot.type->kind == Kind::kDouble) return *as<double>(slot) = static_cast<double>(value), true;
    if (slot.type->kind != Kind::kInt || !std::in_range<std::int64_t>(value)) return mismatch(slot);
    *as<std::int64_t>(slot) = static_cast<std::int64_t>(value);
    return true;
  }

  bool number_float(number_float_t value, const string_t& spelling) {
    const Slot slot = scalar_slot(spelling);
    if (!slot.type) return true;
    if (slot.type->kind == Kind::kDouble) return *as<double>(slot) = value, true;
    const bool fits = std::trunc(value) == value && value > -0x1.0p63 && value < 0x1.0p63;
    if (slot.type->kind != Kind::kInt || !fits) return mismatch(slot);
    *as<std::int64_t>(slot) = static_cast<std::int64_t>(value);
    return true;
  }

  bool string(string_t& value) {
    const Slot slot = scalar_slot([&] { return quote(value); });
    if (!slot.type) return true;
    if (slot.type->kind == Kind::kString) return *as<std::string>(slot) = std::move(value), true;
    if (slot.type->kind != Kind::kTime) return mismatch(slot);
    const auto time = parse_rfc3339(value);
    if (!time) return mismatch(slot);
    *as<WallTime>(slot) = *time;
    return true;
  }

  bool binary(binary_t& /*never in JSON*/) { return false; }

  bool start_object(std::size_t /*unknown*/) { return start('{'); }
  bool start_array(std::size_t /*unknown*/) { return start('['); }
  bool end_object() { return end('}'); }
  bool end_array() { return end(']'); }

  bool key(string_t& name) {
    if (skipped_ > 0) return true;
    if (raw_.active()) return raw_.key(name), true;
    Frame& frame = frames_.back();
    frame.key = std::move(name);
    if (frame.type->kind != Kind::kObject) return true;
    frame.field = nullptr;
    for (const Field& field : frame.type->fields) {
      if (field.name == frame.key) frame.field = &field;
    }
    return true;
  }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const std::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    const std::string_view text = error.what();
    const std::size_t end_of_id = text.find("] ");
    return fail_here(text.substr(end_of_id == std::string_view::npos ? 0 : end_of_id + 2));
  }

 private:
  struct Frame {
    Frame(const Type* t, void* address) : type(t), target(address) {}
    const Type* type;
    void* target;
    std::string key;               // objects and maps: of the current value
    const Field* field = nullptr;  // objects: null while the current value is unknown
    std::size_t next_index = 0;    // arrays
  };

  template <class T>
  static T* as(const Slot& slot) {
    return static_cast<T*>(slot.target);
  }

  // Makes room for the next value.
  Slot next_slot() {
    if (frames_.empty()) return root_;
    Frame& frame = frames_.back();
    switch (frame.type->kind) {
      case Kind::kArray:
        ++frame.next_index;
        return {&frame.type->element(), frame.type->append(frame.target)};
      case Kind::kMap:
        return {&frame.type->element(), frame.type->insert(frame.target, frame.key)};
      default:
        break;
    }
    if (!frame.field) return {};
    return {&frame.field->type(), frame.field->at(frame.target)};
  }

  // The slot of a value that is neither object nor array; empty if it needs nothing more. Raw targets get
  // `text`, which is a string or makes one.
  template <class Text>
  Slot scalar_slot(const Text& text) {
    const auto write = [&] {
      if constexpr (std::is_invocable_v<Text>) {
        raw_.value(text());
      } else {
        raw_.value(text);
      }
      return Slot{};
    };
    if (skipped_ > 0) return {};
    if (raw_.active()) return write();
    const Slot slot = next_slot();
    if (!slot.type || slot.type->kind != Kind::kRaw) return slot;
    raw_.start(*as<RawJson>(slot));
    return write();
  }

  bool start(char bracket) {
    if (++depth_ > kMaxDepth) return fail_here("nested deeper than 200");
    if (skipped_ > 0) return ++skipped_, true;
    if (raw_.active()) return raw_.open(bracket), true;
    const Slot slot = next_slot();
    if (!slot.type) return ++skipped_, true;
    switch (slot.type->kind) {
      case Kind::kRaw:
        raw_.start(*as<RawJson>(slot));
        raw_.open(bracket);
        return true;
      case Kind::kObject:
        if (bracket != '{') return mismatch(slot);
        break;
      case Kind::kMap:
        if (bracket != '{') return mismatch(slot);
        slot.type->clear(slot.target);
        break;
      case Kind::kArray:
        if (bracket != '[') return mismatch(slot);
        slot.type->clear(slot.target);
        break;
      default:
        return mismatch(slot);
    }
    frames_.emplace_back(slot.type, slot.target);
    return true;
  }

  bool end(char bracket) {
    --depth_;
    if (skipped_ > 0) return --skipped_, true;
    if (raw_.active()) return raw_.close(bracket), true;
    frames_.pop_back();
    return true;
  }

  bool mismatch(const Slot& slot) {
    switch (slot.type->kind) {
      case Kind::kString:
        return fail_here("expected a string");
      case Kind::kBool:
        return fail_here("expected true or false");
      case Kind::kInt:
        return fail_here("expected a 64-bit integer");
      case Kind::kDouble:
        return fail_here("expected a number");
      case Kind::kTime:
        return fail_here("expected an RFC 3339 time");
      case Kind::kArray:
        return fail_here("expected an array");
      case Kind::kObject:
      case Kind::kMap:
        return fail_here("expected an object");
      case Kind::kRaw:
        break;
    }
    return fail_here("unexpected value");
  }

  // "status.conditions[2].type"; a map's key as ["key"], because it may hold dots.
  std::string path() const {
    std::string path;
    for (const Frame& frame : frames_) {
      if (frame.type->kind == Kind::kArray) {
        if (frame.next_index > 0) path += "[" + std::to_string(frame.next_index - 1) + "]";
      } else if (!frame.key.empty()) {
        const bool dotted = frame.type->kind == Kind::kObject;
        path += dotted ? (path.empty() ? "" : ".") + frame.key : "[" + quote(frame.key) + "]";
      }
    }
    return path;
  }

  bool fail_here(std::string_view what) {
    const std::string where = path();
    error_ = where.empty() ? std::string(what) : where + ": " + std::string(what);
    return false;
  }

  Slot root_;
  std::vector<Frame> frames_;
  RawWriter raw_;
  std::size_t depth_ = 0;
  std::size_t skipped_ = 0;  // open brackets since the unknown value began
  std::string error_;
};

}  // namespace

Result<void> read(std::string_view text, const Type& type, void* target) {
  try {
    Reader reader(type, target);
    if (nlohmann::json::sax_parse(text.begin(), text.end(), &reader)) return {};
    return fail(ErrorCode::kParse, "JSON: " + reader.error());
  } catch (const std::exception& error) {  // out of memory
    return fail(ErrorCode::kParse, std::string("JSON: ") + error.what());
  }
}

std::string quote(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace gpupool::base::json
