// SPDX-License-Identifier: Apache-2.0
#include "planning/job/template_fields.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"

namespace gpupool::planning {
namespace {

constexpr char kPodTemplate[] = "io.k8s.api.core.v1.PodTemplateSpec";
constexpr std::string_view kReference = "#/definitions/";

// The part of an OpenAPI v2 schema that names fields.
struct ElementSchema {
  std::string ref;
};
struct PropertySchema {
  std::string ref;
  ElementSchema items;
};
struct DefinitionSchema {
  std::map<std::string, PropertySchema> properties;
};

std::string name_of(const std::string& ref) {
  return ref.starts_with(kReference) ? ref.substr(kReference.size()) : std::string();
}

}  // namespace
}  // namespace gpupool::planning

namespace gpupool::base::json {

template <>
struct Schema<planning::ElementSchema> {
  using T = planning::ElementSchema;
  static constexpr auto fields = std::array{field<&T::ref>("$ref")};
};
template <>
struct Schema<planning::PropertySchema> {
  using T = planning::PropertySchema;
  static constexpr auto fields = std::array{field<&T::ref>("$ref"), field<&T::items>("items")};
};
template <>
struct Schema<planning::DefinitionSchema> {
  using T = planning::DefinitionSchema;
  static constexpr auto fields = std::array{field<&T::properties>("properties")};
};

}  // namespace gpupool::base::json

namespace gpupool::planning {
namespace {

using Json = nlohmann::json;

// Walks through a template with a place in the tree of fields for each open bracket.
template <class Fields>
class FieldWalk final : public nlohmann::json_sax<Json> {
 public:
  explicit FieldWalk(const std::vector<Fields>& objects) : objects_(objects) { places_.reserve(16); }

  const std::string& unknown() const { return unknown_; }

  bool start_object(std::size_t /*size*/) override { return enter(false); }
  bool start_array(std::size_t /*size*/) override { return enter(true); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }

  bool key(string_t& name) override {
    auto& place = places_.back();
    place.key = std::move(name);
    place.next = -1;
    if (place.object < 0) return true;
    const auto& fields = objects_[static_cast<std::size_t>(place.object)];
    const auto found = fields.find(place.key);
    if (found == fields.end()) {
      unknown_ = path();
      return false;
    }
    place.next = found->second;
    return true;
  }

  bool null() override { return value(); }
  bool boolean(bool /*value*/) override { return value(); }
  bool number_integer(number_integer_t /*value*/) override { return value(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return value(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return value(); }
  bool string(string_t& /*value*/) override { return value(); }
  bool binary(binary_t& /*value*/) override { return value(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;  // somebody else tells it
  }

 private:
  struct Place {
    bool list = false;
    std::int32_t object = -1;  // what an object here is
    std::int32_t next = -1;    // what the value of the last key, or an element, is
    std::size_t index = 0;     // of the element in a list
    std::string key = {};
  };

  bool enter(bool list) {
    const auto is = places_.empty() ? 0 : places_.back().next;
    places_.push_back({.list = list, .object = list ? -1 : is, .next = list ? is : -1});
    return true;
  }
  bool leave() {
    places_.pop_back();
    return value();
  }
  bool value() {
    if (!places_.empty() && places_.back().list) ++places_.back().index;
    return true;
  }
  std::string path() const {
    std::string text;
    for (const auto& place : places_) {
      if (place.list) {
        text += "[" + std::to_string(place.index) + "]";
      } else {
        text.append(text.empty() ? "" : ".").append(place.key);
      }
    }
    return text;
  }

  const std::vector<Fields>& objects_;
  std::vector<Place> places_;
  std::string unknown_;
};

}  // namespace

std::string TemplateFields::unknown_field(std::string_view pod_template) const {
  if (objects_.empty()) return {};
  FieldWalk<Fields> walk(objects_);
  Json::sax_parse(pod_template.begin(), pod_template.end(), &walk);
  return walk.unknown();
}

bool TemplateFieldsBuilder::wants(std::string_view definition) {
  return definition.starts_with("io.k8s.api.core.v1.") ||
         definition.starts_with("io.k8s.apimachinery.pkg.apis.meta.v1.");
}

void TemplateFieldsBuilder::add(const std::string& definition, std::string_view schema) {
  auto& references = definitions_[definition];
  const auto read = base::json::read<DefinitionSchema>(schema);
  if (!read) return;
  for (const auto& [name, property] : read->properties)
    references[name] = name_of(property.ref.empty() ? property.items.ref : property.ref);
}

TemplateFields TemplateFieldsBuilder::build() const {
  TemplateFields built;
  std::map<std::string, std::int32_t> indexes;
  std::vector<const References*> found;
  const auto index_of = [&](const std::string& definition) {
    const auto known = definitions_.find(definition);
    // One without fields is a quantity, a time, or a tree of any fields.
    if (known == definitions_.end() || known->second.empty()) return TemplateFields::kAnything;
    const auto [at, fresh] = indexes.try_emplace(definition, static_cast<std::int32_t>(found.size()));
    if (fresh) found.push_back(&known->second);
    return at->second;
  };
  index_of(kPodTemplate);
  while (built.objects_.size() < found.size()) {  // index_of() adds to `found`
    const auto& references = *found[built.objects_.size()];
    auto& fields = built.objects_.emplace_back();
    for (const auto& [name, definition] : references) fields.emplace(name, index_of(definition));
  }
  return built;
}

}  // namespace gpupool::planning
