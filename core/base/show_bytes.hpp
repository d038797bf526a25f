// Numbers of bytes for messages.
#pragma once

#include <cstdio>
#include <iterator>
#include <string>

namespace filbert {

// Such as "999 bytes", "1.5 KiB", "12.0 MiB": never 0 where there is something.
inline std::string show_bytes(double bytes) {
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  char text[64];
  if (bytes < 1024.0) {
    std::snprintf(text, sizeof text, "%.0f bytes", bytes);
    return text;
  }
  std::size_t unit = 0;
  for (bytes /= 1024.0; bytes >= 1024.0 && unit + 1 < std::size(kUnits); bytes /= 1024.0) ++unit;
  std::snprintf(text, sizeof text, bytes < 1e6 ? "%.1f %s" : "%.2g %s", bytes, kUnits[unit]);
  return text;
}

}  // namespace filbert
