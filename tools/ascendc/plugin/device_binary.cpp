// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/plugin/device_binary.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/IR/Constants.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <cstring>
#include <string>
#include <vector>

namespace vinci::plugin {

using namespace llvm;  // NOLINT(google-build-using-namespace)

namespace {

constexpr uint64_t kBytesOfKernel = 4;  // in the section of code, so that symbols have addresses of their own

// The bytes of a constant of numbers; false for one that names something.
bool add_bytes(const Constant& c, const DataLayout& layout, std::string& out) {
  const uint64_t begin = out.size(), size = layout.getTypeAllocSize(c.getType());
  if (const auto* number = dyn_cast<ConstantInt>(&c)) {
    for (uint64_t i = 0; i < size; ++i)
      out.push_back(static_cast<char>(number->getValue().extractBitsAsZExtValue(8, static_cast<unsigned>(8 * i))));
    return true;
  }
  if (!c.isNullValue()) {
    const bool record = c.getType()->isStructTy();
    if (!record && !c.getType()->isArrayTy()) return false;
    const unsigned parts =
        record ? c.getType()->getStructNumElements() : static_cast<unsigned>(c.getType()->getArrayNumElements());
    for (unsigned i = 0; i < parts; ++i) {
      if (record) {
        const auto* fields = layout.getStructLayout(cast<StructType>(c.getType()));
        out.resize(begin + fields->getElementOffset(i));
      }
      if (!add_bytes(*c.getAggregateElement(i), layout, out)) return false;
    }
  }
  out.resize(begin + size);
  return true;
}

class File {
 public:
  File() { sections_.push_back({}); }

  void add_kernel(StringRef name) {
    ELF::Elf64_Sym s{};
    s.st_name = add(names_, name);
    s.setBindingAndType(ELF::STB_GLOBAL, ELF::STT_FUNC);
    s.st_shndx = 1;
    s.st_value = code_.size();
    s.st_size = kBytesOfKernel;
    symbols_.push_back(s);
    code_.resize(code_.size() + kBytesOfKernel);
  }
  void add_record(StringRef name, std::string bytes) { records_.emplace_back(name.str(), std::move(bytes)); }

  std::string take() {
    section(".text", ELF::SHT_PROGBITS, ELF::SHF_ALLOC | ELF::SHF_EXECINSTR, code_);
    for (const auto& [name, bytes] : records_)
      section(name, ELF::SHT_NOTE, 0, bytes);
    const std::string table(reinterpret_cast<const char*>(symbols_.data()),  // NOLINT: bytes of the file
                            symbols_.size() * sizeof(ELF::Elf64_Sym));
    ELF::Elf64_Shdr& all = section(".symtab", ELF::SHT_SYMTAB, 0, table);
    all.sh_link = static_cast<ELF::Elf64_Word>(sections_.size());
    all.sh_info = 1;  // the first that is not local
    all.sh_entsize = sizeof(ELF::Elf64_Sym);
    section(".strtab", ELF::SHT_STRTAB, 0, names_);
    const auto last = static_cast<ELF::Elf64_Half>(sections_.size());
    add(section_names_, ".shstrtab");
    section(".shstrtab", ELF::SHT_STRTAB, 0, section_names_);
    ELF::Elf64_Ehdr head{};
    std::memcpy(head.e_ident, ELF::ElfMagic, 4);
    head.e_ident[ELF::EI_CLASS] = ELF::ELFCLASS64;
    head.e_ident[ELF::EI_DATA] = ELF::ELFDATA2LSB;
    head.e_ident[ELF::EI_VERSION] = ELF::EV_CURRENT;
    head.e_type = ELF::ET_REL;
    head.e_version = ELF::EV_CURRENT;
    head.e_ehsize = sizeof(head);
    head.e_shentsize = sizeof(ELF::Elf64_Shdr);
    head.e_shnum = static_cast<ELF::Elf64_Half>(sections_.size());
    head.e_shstrndx = last;
    body_.resize((body_.size() + 7) / 8 * 8);
    head.e_shoff = sizeof(head) + body_.size();
    for (const ELF::Elf64_Shdr& s : sections_)
      append(body_, s);
    std::string out;
    append(out, head);
    return out + body_;
  }

 private:
  template <class T>
  static void append(std::string& out, const T& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof(value));  // NOLINT: bytes of the file
  }
  static ELF::Elf64_Word add(std::string& names, StringRef name) {
    const auto at = static_cast<ELF::Elf64_Word>(names.size());
    names += name.str();
    names.push_back('\0');
    return at;
  }
  ELF::Elf64_Shdr& section(StringRef name, ELF::Elf64_Word type, ELF::Elf64_Xword flags, const std::string& bytes) {
    body_.resize((body_.size() + 7) / 8 * 8);
    ELF::Elf64_Shdr s{};
    const size_t known = section_names_.find(std::string("\0", 1) + name.str() + std::string("\0", 1));
    s.sh_name = known != std::string::npos ? static_cast<ELF::Elf64_Word>(known + 1) : add(section_names_, name);
    s.sh_type = type;
    s.sh_flags = flags;
    s.sh_offset = sizeof(ELF::Elf64_Ehdr) + body_.size();
    s.sh_size = bytes.size();
    s.sh_addralign = 8;
    body_ += bytes;
    sections_.push_back(s);
    return sections_.back();
  }

  std::vector<ELF::Elf64_Shdr> sections_;
  std::vector<ELF::Elf64_Sym> symbols_{ELF::Elf64_Sym{}};
  std::vector<std::pair<std::string, std::string>> records_;
  std::string names_{'\0'}, section_names_{'\0'}, code_, body_;
};

}  // namespace

void write_device_binary(Module& m, const Pass& pass, const Kernels& kernels) {
  if (kernels.by_entry.empty()) return;
  File file;
  const bool one_kind = pass.kind.starts_with("only-");
  for (const auto& [entry, kernel] : kernels.by_entry) {
    if (one_kind) {
      file.add_kernel(entry->getName());
    } else {
      file.add_kernel((entry->getName() + "_mix_aic").str());
      file.add_kernel((entry->getName() + "_mix_aiv").str());
    }
  }
  for (const GlobalVariable& g : m.globals()) {
    std::string bytes;
    if (g.hasInitializer() && g.getSection().starts_with(".ascend.meta.") &&
        add_bytes(*g.getInitializer(), m.getDataLayout(), bytes))
      file.add_record(g.getSection(), std::move(bytes));
  }
  Constant* bytes = ConstantDataArray::getString(m.getContext(), file.take(), false);
  auto* out = new GlobalVariable(m, bytes->getType(), true, GlobalValue::PrivateLinkage, bytes, "vinci_device_binary");
  out->setSection("__aicore_rel_binary");
  out->setAlignment(Align(8));
  appendToCompilerUsed(m, {out});
}

}  // namespace vinci::plugin
