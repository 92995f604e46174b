# SPDX-License-Identifier: Apache-2.0
# cmake -DROOT=folder -DFILES=a.yaml;b/c.yaml -DHEADER=configs/embedded.h -DNAMESPACE=vinci::config
#   -DOUTPUT=embedded.cpp -P EmbedFiles.cmake
# Writes a source that defines embedded_files() of the header: the bytes of each file, and the list.
set(arrays "")
set(entries "")
set(number 0)
foreach(file IN LISTS FILES)
  file(READ "${ROOT}/${file}" bytes HEX)
  if(bytes STREQUAL "")
    message(FATAL_ERROR "${ROOT}/${file} is empty")
  endif()
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND arrays "constexpr char kFile${number}[] = {${bytes}};\n")
  string(APPEND entries "    {\"${file}\", {kFile${number}, sizeof(kFile${number})}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUTPUT}.new" "// Generated from ${number} files; do not edit.
#include \"${HEADER}\"

namespace ${NAMESPACE} {
namespace {

${arrays}
constexpr EmbeddedFile kFiles[] = {
${entries}};

}  // namespace

std::span<const EmbeddedFile> embedded_files() { return kFiles; }

}  // namespace ${NAMESPACE}
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
