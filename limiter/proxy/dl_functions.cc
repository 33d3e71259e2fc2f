// SPDX-License-Identifier: Apache-2.0
#include "limiter/proxy/dl_functions.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <string_view>

// Weak, and of the oldest version: libc's own since 2.34, before that of libdl.so.2 if the program has loaded
// it.
#if defined(__x86_64__)
__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
#else
__asm__(".symver dlopen, dlopen@GLIBC_2.17");
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
#endif
#pragma weak dlopen
#pragma weak dlsym

namespace gpupool::limiter {

namespace {

// The loader tells addresses as numbers.
// NOLINTBEGIN(performance-no-int-to-ptr)

// Where a loaded object has its symbols.
struct SymbolTables {
  ElfW(Addr) base;
  const ElfW(Sym) * symbols;
  const char* strings;
  const std::uint32_t* gnu_hash;
};

SymbolTables tables_of(const dl_phdr_info& object) {
  SymbolTables tables{object.dlpi_addr, nullptr, nullptr, nullptr};
  for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) {
      continue;
    }
    // The loader has made the addresses in it absolute.
    for (const auto* entry =
             reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
         entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) tables.symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_STRTAB) tables.strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_GNU_HASH)
        tables.gnu_hash = reinterpret_cast<const std::uint32_t*>(entry->d_un.d_ptr);
    }
  }
  return tables;
}

std::uint32_t hash_of(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char letter : name) {
    hash = hash * 33 + static_cast<unsigned char>(letter);
  }
  return hash;
}

void* find_in(const SymbolTables& tables, std::string_view name) {
  if (tables.symbols == nullptr || tables.strings == nullptr || tables.gnu_hash == nullptr) {
    return nullptr;
  }
  const std::uint32_t bucket_count = tables.gnu_hash[0];
  const std::uint32_t first = tables.gnu_hash[1];
  const std::uint32_t filter_words = tables.gnu_hash[2];
  const std::uint32_t* const buckets =
      tables.gnu_hash + 4 + filter_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* const chains = buckets + bucket_count;
  const std::uint32_t hash = hash_of(name);
  for (std::uint32_t i = bucket_count == 0 ? 0 : buckets[hash % bucket_count]; i >= first && i != 0; ++i) {
    const std::uint32_t chain = chains[i - first];
    const ElfW(Sym)& symbol = tables.symbols[i];
    if ((chain | 1U) == (hash | 1U) && name == &tables.strings[symbol.st_name] &&
        symbol.st_shndx != SHN_UNDEF) {
      return reinterpret_cast<void*>(tables.base + symbol.st_value);
    }
    if ((chain & 1U) != 0) {
      break;
    }
  }
  return nullptr;
}

// NOLINTEND(performance-no-int-to-ptr)

// Of libdl.so.2, loaded later than this library; or what libc has for its own use.
int find_functions(dl_phdr_info* object, std::size_t /*size*/, void* context) {
  auto& found = *static_cast<DlFunctions*>(context);
  const std::string_view path = object->dlpi_name == nullptr ? "" : object->dlpi_name;
  const bool libdl = path.ends_with("/libdl.so.2");
  if (!libdl && !path.ends_with("/libc.so.6")) {
    return 0;
  }
  const SymbolTables tables = tables_of(*object);
  void* const open = find_in(tables, libdl ? "dlopen" : "__libc_dlopen_mode");
  void* const symbol = find_in(tables, libdl ? "dlsym" : "__libc_dlsym");
  if (open == nullptr || symbol == nullptr) {
    return 0;
  }
  found.open = reinterpret_cast<decltype(found.open)>(open);
  found.symbol = reinterpret_cast<decltype(found.symbol)>(symbol);
  return libdl ? 1 : 0;
}

}  // namespace

DlFunctions dl_functions() {
  if (&dlopen != nullptr && &dlsym != nullptr) {
    return {&dlopen, &dlsym};
  }
  DlFunctions found{nullptr, nullptr};
  dl_iterate_phdr(find_functions, &found);
  return found;
}

}  // namespace gpupool::limiter
