// SPDX-License-Identifier: Apache-2.0
#include "limiter/proxy/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace gpupool::limiter {

namespace {

#if defined(__x86_64__)
constexpr unsigned kMachine = EM_X86_64;
#else
constexpr unsigned kMachine = EM_AARCH64;
#endif
constexpr unsigned kMaxHeaders = 64;
constexpr std::size_t kMaxNotes = 1024;

bool read_exactly(int file, void* into, std::size_t size, off_t offset) {
  ssize_t got = -1;
  do {
    got = pread(file, into, size, offset);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(size);
}

// Whether the notes of this segment hold one of the owner "gpupool".
bool has_our_note(int file, const ElfW(Phdr) & segment) {
  std::array<char, kMaxNotes> notes{};
  const std::size_t size = segment.p_filesz < notes.size() ? segment.p_filesz : notes.size();
  if (!read_exactly(file, notes.data(), size, static_cast<off_t>(segment.p_offset))) {
    return false;
  }
  constexpr std::size_t kPadding = 3;
  std::size_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= size) {
    ElfW(Nhdr) note{};
    std::memcpy(&note, &notes[at], sizeof note);
    at += sizeof note;
    if (note.n_namesz > size - at) {
      return false;
    }
    if (note.n_namesz == sizeof "gpupool" && std::memcmp(&notes[at], "gpupool", sizeof "gpupool") == 0) {
      return true;
    }
    at += ((note.n_namesz + kPadding) & ~kPadding) + ((note.n_descsz + kPadding) & ~kPadding);
  }
  return false;
}

ElfKind inspect_open_file(int file) {
  ElfW(Ehdr) header{};
  if (!read_exactly(file, &header, sizeof header, 0) || std::memcmp(&header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN || header.e_machine != kMachine ||
      header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phnum > kMaxHeaders) {
    return ElfKind::kUnusable;
  }
  for (unsigned number = 0; number < header.e_phnum; ++number) {
    ElfW(Phdr) segment{};
    if (!read_exactly(file, &segment, sizeof segment,
                      static_cast<off_t>(header.e_phoff + number * sizeof segment))) {
      return ElfKind::kUnusable;
    }
    if (segment.p_type == PT_NOTE && has_our_note(file, segment)) {
      return ElfKind::kOurs;
    }
  }
  return ElfKind::kOther;
}

}  // namespace

ElfKind inspect_elf(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return ElfKind::kUnusable;
  }
  const ElfKind kind = inspect_open_file(file);
  close(file);
  return kind;
}

}  // namespace gpupool::limiter
