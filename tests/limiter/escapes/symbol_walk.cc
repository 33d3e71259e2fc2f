// SPDX-License-Identifier: Apache-2.0
#include "tests/limiter/escapes/symbol_walk.h"

#include <link.h>

#include <cstdint>
#include <cstring>

namespace {

struct Tables {
  const ElfW(Sym) * symbols;
  const char* names;
  const std::uint32_t* hash;
};

Tables tables_of(const struct link_map* object) {
  Tables tables{};
  for (const ElfW(Dyn)* entry = object->l_ld; entry->d_tag != DT_NULL; ++entry) {
    const void* const place = reinterpret_cast<const void*>(entry->d_un.d_ptr);  // glibc has made it absolute
    if (entry->d_tag == DT_SYMTAB) tables.symbols = static_cast<const ElfW(Sym)*>(place);
    if (entry->d_tag == DT_STRTAB) tables.names = static_cast<const char*>(place);
    if (entry->d_tag == DT_GNU_HASH) tables.hash = static_cast<const std::uint32_t*>(place);
  }
  return tables;
}

// The number of symbols: one more than the last of the last chain.
std::uint32_t count_of(const std::uint32_t* hash) {
  const std::uint32_t buckets = hash[0];
  const std::uint32_t first = hash[1];
  const std::uint32_t* const bucket = hash + 4 + hash[2] * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* const chain = bucket + buckets;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < buckets; ++i) last = bucket[i] > last ? bucket[i] : last;
  if (last < first) return first;
  while ((chain[last - first] & 1U) == 0) ++last;
  return last + 1;
}

}  // namespace

void* walk_to_symbol(const char* name) {
  for (const struct link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) {
    const Tables tables = tables_of(object);
    // The kernel's object has tables that are not made absolute.
    if (tables.symbols == nullptr || tables.names == nullptr || tables.hash == nullptr ||
        reinterpret_cast<std::uintptr_t>(tables.hash) < object->l_addr) {
      continue;
    }
    const std::uint32_t count = count_of(tables.hash);
    for (std::uint32_t i = 0; i < count; ++i) {
      const ElfW(Sym)& symbol = tables.symbols[i];
      if (symbol.st_shndx != SHN_UNDEF && std::strcmp(tables.names + symbol.st_name, name) == 0) {
        return reinterpret_cast<void*>(object->l_addr + symbol.st_value);
      }
    }
  }
  return nullptr;
}
