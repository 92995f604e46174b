// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Printable text in UTF-8.
#pragma once

#include <string_view>

#include "isa/base/types.h"

namespace vinci {

// Bytes of the character that `text` begins with; 0 if it is no UTF-8, a control character, a separator of lines, a
// mark of byte order or no character.
inline usize character_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<u8>(text[0]);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const usize length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || length > text.size()) return 0;
  u32 code = first & (0x7fu >> length);
  for (usize k = 1; k < length; ++k) {
    const auto next = static_cast<u8>(text[k]);
    if ((next & 0xc0) != 0x80) return 0;
    code = code << 6 | (next & 0x3fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool special = (code >= 0xd800 && code < 0xe000) || code > 0x10ffff || code < 0xa0 || code == 0x2028 ||
                       code == 0x2029 || code == 0xfeff || (code & 0xfffe) == 0xfffe;
  return overlong || special ? 0 : length;
}

}  // namespace vinci
