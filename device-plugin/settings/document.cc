// SPDX-License-Identifier: Apache-2.0
#include "settings/document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <optional>
#include <sstream>

namespace gpupool::settings {
namespace {

constexpr std::size_t kMaxDocumentBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxDepth = 16;

std::string at(int line, const std::string& what) { return "line " + std::to_string(line) + ": " + what; }

// Thrown and caught in this file only; read_document() turns it into a Result.
struct BadDocument {
  std::string message;
};

class Builder final : public YAML::EventHandler {
 public:
  Value take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(start(mark, Value::Kind::kNull, "", anchor));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw BadDocument{at(mark.line + 1, "aliases are not supported")};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    Value value = start(mark, Value::Kind::kScalar, tag, anchor);
    value.quoted = tag == "!";
    // Plain "~" and "null" are nulls in YAML 1.2's core schema.
    if (!value.quoted && (text == "~" || text == "null")) value.kind = Value::Kind::kNull;
    value.text = text;
    add(std::move(value));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(start(mark, Value::Kind::kList, tag, anchor));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(start(mark, Value::Kind::kMap, tag, anchor));
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Value value;
    std::optional<Value> key;  // of a map: read, and waiting for its value
  };

  static Value start(const YAML::Mark& mark, Value::Kind kind, const std::string& tag,
                     YAML::anchor_t anchor) {
    if (anchor != 0) throw BadDocument{at(mark.line + 1, "anchors are not supported")};
    if (!tag.empty() && tag != "?" && tag != "!") {
      throw BadDocument{at(mark.line + 1, "tags are not supported, such as '" + tag + "'")};
    }
    Value value;
    value.kind = kind;
    value.line = mark.line + 1;
    return value;
  }

  void open(Value value) {
    if (open_.size() == kMaxDepth) throw BadDocument{at(value.line, "is nested too deeply")};
    open_.push_back({std::move(value), std::nullopt});
  }
  void close() {
    Value value = std::move(open_.back().value);
    open_.pop_back();
    add(std::move(value));
  }
  void add(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& parent = open_.back();
    if (parent.value.kind == Value::Kind::kList) {
      parent.value.items.push_back(std::move(value));
    } else if (!parent.key) {
      if (value.kind != Value::Kind::kScalar) throw BadDocument{at(value.line, "a key must be plain text")};
      parent.key = std::move(value);
    } else {
      const int line = parent.key->line;
      // The parser gives a null the line of the next token, which may be further down.
      if (value.kind == Value::Kind::kNull) value.line = line;
      parent.value.entries.push_back({std::move(parent.key->text), line, std::move(value)});
      parent.key.reset();
    }
  }

  Value root_;
  std::vector<Open> open_;
};

Value build(const std::string& yaml) {
  std::istringstream in(yaml);
  YAML::Parser parser(in);
  Builder first;
  parser.HandleNextDocument(first);
  Builder second;
  if (parser.HandleNextDocument(second)) {
    throw BadDocument{at(second.take().line, "a second YAML document begins; only one is read")};
  }
  return first.take();
}

}  // namespace

base::Result<Value> read_document(const std::string& yaml) {
  using base::ErrorCode;
  if (yaml.size() > kMaxDocumentBytes) return base::fail(ErrorCode::kInvalidArgument, "is larger than 1 MiB");
  try {
    return build(yaml);
  } catch (const BadDocument& error) {
    return base::fail(ErrorCode::kInvalidArgument, error.message);
  } catch (const YAML::Exception& error) {
    return base::fail(ErrorCode::kInvalidArgument, at(error.mark.line + 1, "no valid YAML: " + error.msg));
  } catch (const std::exception& error) {
    return base::fail(ErrorCode::kInvalidArgument, std::string("no valid YAML: ") + error.what());
  }
}

}  // namespace gpupool::settings
