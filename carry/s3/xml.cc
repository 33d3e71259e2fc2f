// SPDX-License-Identifier: Apache-2.0
#include "s3/xml.h"

#include <expat.h>

#include <exception>
#include <memory>
#include <new>
#include <vector>

namespace gpupool::carry::s3 {
namespace {

constexpr std::size_t kDeepest = 32;

struct ParserCleanup {
  void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
};

// Exceptions must not cross expat's C code.
struct Reading {
  XML_Parser parser;
  const ElementReader& reader;
  std::string path;
  std::vector<std::string> texts;  // of the open elements
  std::exception_ptr thrown;

  template <class Step>
  void guarded(Step step) {
    try {
      step();
    } catch (...) {
      thrown = std::current_exception();
      XML_StopParser(parser, XML_FALSE);
    }
  }
};

void on_start(void* data, const XML_Char* name, const XML_Char** /*attributes*/) {
  auto& reading = *static_cast<Reading*>(data);
  reading.guarded([&] {
    if (reading.texts.size() == kDeepest) return void(XML_StopParser(reading.parser, XML_FALSE));
    if (!reading.path.empty()) reading.path += '/';
    reading.path += name;
    reading.texts.emplace_back();
  });
}

void on_text(void* data, const XML_Char* text, int size) {
  auto& reading = *static_cast<Reading*>(data);
  reading.guarded([&] {
    if (!reading.texts.empty()) reading.texts.back().append(text, static_cast<std::size_t>(size));
  });
}

void on_end(void* data, const XML_Char* name) {
  auto& reading = *static_cast<Reading*>(data);
  reading.guarded([&] {
    // expat may still report the end of an element after it was told to stop.
    if (!reading.path.ends_with(name) || reading.texts.empty()) return;
    reading.reader(reading.path, reading.texts.back());
    const std::size_t slash = reading.path.rfind('/');
    reading.path.resize(slash == std::string::npos ? 0 : slash);
    reading.texts.pop_back();
  });
}

void on_doctype(void* data, const XML_Char* /*name*/, const XML_Char* /*system*/, const XML_Char* /*public*/,
                int /*internal*/) {
  XML_StopParser(static_cast<Reading*>(data)->parser, XML_FALSE);
}

}  // namespace

bool read_xml(std::string_view document, const ElementReader& reader) {
  const std::unique_ptr<XML_ParserStruct, ParserCleanup> parser(XML_ParserCreate(nullptr));
  if (!parser) throw std::bad_alloc();
  Reading reading{.parser = parser.get(), .reader = reader, .path = {}, .texts = {}, .thrown = {}};
  XML_SetUserData(parser.get(), &reading);
  XML_SetElementHandler(parser.get(), &on_start, &on_end);
  XML_SetCharacterDataHandler(parser.get(), &on_text);
  XML_SetStartDoctypeDeclHandler(parser.get(), &on_doctype);
  const auto status = XML_Parse(parser.get(), document.data(), static_cast<int>(document.size()), XML_TRUE);
  if (reading.thrown) std::rethrow_exception(reading.thrown);
  return status == XML_STATUS_OK;
}

std::string xml_text(std::string_view document, std::string_view path) {
  std::string found;
  read_xml(document, [&](std::string_view at, std::string_view text) {
    if (found.empty() && at == path) found = text;
  });
  return found;
}

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size() + text.size() / 8);
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace gpupool::carry::s3
