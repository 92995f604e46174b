// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/config/schema.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "isa/base/enums.h"
#include "sim/config/describe_chip.h"
#include "sim/config/unit_text.h"

namespace vinci::config {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
inline constexpr bool kIsNumber = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

std::string law_ref(std::string_view law) { return fmt::format("#/$defs/{}", law); }

// An object for each group. A cost line is one by its law, or names another law.
struct WriteSchema {
  Json& properties;

  template <class T>
  void operator()(std::string_view key, const T& member, std::string_view doc, Range range = {}) {
    Json& out = properties[std::string(key)];
    out["description"] = doc;
    if constexpr (std::same_as<T, CostLine>) {
      for (const std::string_view law : {name_of(member.law), std::string_view("named_law")})
        out["anyOf"].push_back({{"$ref", law_ref(law)}});
    } else if constexpr (kIsLines<T>) {
      out["type"] = "object";
      for (const std::string_view law : law_names())  // that of the class, where none is named
        out["additionalProperties"]["anyOf"].push_back({{"$ref", law_ref(law)}});
    } else if constexpr (kIsRanges<T>) {
      out["type"] = "object";
      write_group(out["additionalProperties"], AssumedRange());
    } else if constexpr (Described<const T>) {
      write_group(out, member);
    } else {
      write_value(out, member, range);
    }
  }

  template <class S>
  static void write_group(Json& out, const S& group) {
    out["type"] = "object";
    out["additionalProperties"] = false;
    WriteSchema inner{out["properties"]};
    inner.properties = Json::object();
    describe(inner, group);
  }

  template <class T>
  static void write_value(Json& out, const T& member, Range range) {
    if constexpr (std::same_as<T, std::string>) {
      out["type"] = "string";
    } else if constexpr (std::is_enum_v<T>) {
      for (const std::string_view name : enum_names<T>)
        out["enum"].push_back(name);
    } else if constexpr (std::same_as<T, Law>) {
      out["const"] = name_of(member);
    } else if constexpr (std::same_as<T, bool>) {
      out["type"] = "boolean";
      out["default"] = member;
    } else if constexpr (kIsNumber<T>) {
      // Cycles may be written with their unit.
      out["type"] = std::integral<T> ? Json("integer") : Json::array({"number", "string"});
      if (range.high > range.low) {
        out["minimum"] = range.low;
        out["maximum"] = range.high;
      }
      out["default"] = member;
    } else {
      out["type"] = {"string", "number"};
      std::string doc = fmt::format("{}; {}", out["description"].get<std::string>(), how_to_write(T{}));
      if (range.high > range.low) {
        doc += fmt::format(", {} to {}", write_text(bound_as<T>(range.low)), write_text(bound_as<T>(range.high)));
      }
      out["description"] = doc;
      out["default"] = write_text(member);
    }
  }
};

// Values in units of 1.
struct WriteJson {
  Json& out;

  template <class T>
  void operator()(std::string_view key, const T& member, std::string_view, Range = {}) {
    Json& here = out[std::string(key)];
    if constexpr (kIsLines<T> || kIsRanges<T>) {
      here = Json::object();
      for (const auto& [name, line] : member)
        write(here[name], line);
    } else if constexpr (Described<const T>) {
      write(here, member);
    } else if constexpr (std::is_enum_v<T>) {
      here = name(member);
    } else if constexpr (std::same_as<T, Law>) {
      here = name_of(member);
    } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
      here = member;
    } else {
      here = member.value;
    }
  }

  template <class S>
  static void write(Json& out, const S& group) {
    out = Json::object();
    WriteJson inner{out};
    describe(inner, group);
  }
};

}  // namespace

std::string chip_json(const ChipConfig& chip) {
  Json out;
  WriteJson::write(out, chip);
  return out.dump();
}

std::string chip_schema() {
  Json out;
  out["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  out["title"] = "Chip file of Vinci";
  WriteSchema::write_group(out, ChipConfig());
  out["properties"]["extends"] = {{"type", "string"},
                                  {"description", "a built-in chip, or a chip file, that this one changes"}};
  Json definitions, named = {{"required", Json::array({"law"})}};
  for_each_law([&](const auto& law) {
    WriteSchema::write_group(definitions[std::string(law.name)], CostLine{.law = law});
    named["anyOf"].push_back({{"$ref", law_ref(law.name)}});
  });
  definitions["named_law"] = std::move(named);
  out["$defs"] = std::move(definitions);
  return out.dump(1) + "\n";
}

}  // namespace vinci::config
