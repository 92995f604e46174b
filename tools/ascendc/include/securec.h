// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstring>

// Copies that know the room of their destination. Names, codes and effects are those of libboundscheck: a copy that
// does not fit clears the destination.
typedef int errno_t;
constexpr errno_t EOK = 0;
constexpr errno_t EINVAL_AND_RESET = 150;
constexpr errno_t ERANGE_AND_RESET = 162;
constexpr errno_t EOVERLAP_AND_RESET = 182;

namespace vinci::securec {
// 22: an argument that cannot be; 34: a size that cannot be.
inline errno_t check(void* to, std::size_t room, const void* from, std::size_t count) {
  constexpr std::size_t kMost = 0x7fffffff;
  if (room == 0 || room > kMost) return 34;
  if (to == nullptr) return 22;
  const errno_t code = from == nullptr ? EINVAL_AND_RESET : count > room ? ERANGE_AND_RESET : EOK;
  if (code != EOK) std::memset(to, 0, room);
  return code;
}
}  // namespace vinci::securec

inline errno_t memcpy_s(void* to, std::size_t room, const void* from, std::size_t count) {
  const errno_t code = vinci::securec::check(to, room, from, count);
  if (code != EOK) return code;
  const auto *a = static_cast<const char*>(to), *b = static_cast<const char*>(from);
  if (a != b && a < b + count && b < a + count) {
    std::memset(to, 0, room);
    return EOVERLAP_AND_RESET;
  }
  std::memmove(to, from, count);
  return EOK;
}
inline errno_t memmove_s(void* to, std::size_t room, const void* from, std::size_t count) {
  const errno_t code = vinci::securec::check(to, room, from, count);
  if (code == EOK) std::memmove(to, from, count);
  return code;
}
inline errno_t memset_s(void* to, std::size_t room, int value, std::size_t count) {
  if (room == 0) return 34;
  if (to == nullptr) return 22;
  std::memset(to, value, count < room ? count : room);
  return count <= room ? EOK : ERANGE_AND_RESET;
}
inline errno_t strcpy_s(char* to, std::size_t room, const char* from) {
  return memcpy_s(to, room, from, from == nullptr ? 0 : std::strlen(from) + 1);
}
inline errno_t strncpy_s(char* to, std::size_t room, const char* from, std::size_t count) {
  std::size_t length = 0;
  while (from != nullptr && length < count && from[length] != 0)
    ++length;
  const errno_t code = vinci::securec::check(to, room, from, length + 1);
  if (code != EOK) return code;
  std::memmove(to, from, length);
  to[length] = 0;
  return EOK;
}
inline errno_t strcat_s(char* to, std::size_t room, const char* from) {
  const std::size_t length = to == nullptr ? 0 : strnlen(to, room);
  const errno_t code = strcpy_s(to == nullptr ? nullptr : to + length, room - length, from);
  if (code != EOK && to != nullptr && room > 0) to[0] = 0;
  return code;
}
// The number of characters, or -1 where they do not fit.
inline int vsnprintf_s(char* to, std::size_t room, std::size_t count, const char* format, std::va_list list) {
  const int written = std::vsnprintf(to, count < room ? count + 1 : room, format, list);
  return written >= 0 && static_cast<std::size_t>(written) <= count && static_cast<std::size_t>(written) < room
             ? written
             : -1;
}
__attribute__((format(printf, 3, 4))) inline int sprintf_s(char* to, std::size_t room, const char* format, ...) {
  std::va_list list;
  va_start(list, format);
  const int written = std::vsnprintf(to, room, format, list);
  va_end(list);
  if (written >= 0 && static_cast<std::size_t>(written) < room) return written;
  if (room > 0) to[0] = 0;
  return -1;
}
