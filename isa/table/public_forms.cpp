// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/table/public_forms.h"

#include <algorithm>
#include <vector>

#include "isa/table/table.h"

namespace vinci::isa {
namespace {

constexpr ArchSet kListed = archs(Arch::c100, Arch::m200, Arch::c220);
constexpr ArchSet kListedJoint = archs(Arch::c100, Arch::m200);
constexpr ArchSet kM200Up = archs(Arch::m200, Arch::c220);

// Intrinsics that have the same types on the same architectures.
struct FormFamily {
  ArchSet archs;
  std::string_view intrinsics;  // separated by a blank, as the types
  std::string_view spelling;    // '$' is the intrinsic, '*' the type
  std::string_view types;       // "-": the source names none
  std::string_view reason;      // why those are refused that are not in the table
};

constexpr FormFamily kFormFamilies[] = {
    {kListed,
     "vrec vadds vdiv vrsqrt vln vexp vmuls vabs vcadd vsqrt vmadd vmaddrelu vsel vcmpv_ne vcmpv_eq "
     "vcmpv_gt vcmpv_ge vcmpv_lt vcmpv_le",
     "$.*", "f16 f32", ""},
    {kListed, "vadd vsub vmul vmax vmin", "$.*", "f16 f32 s32", ""},
    {kM200Up, "vadd vsub vmul vmax vmin", "$.*", "s16", ""},
    {kM200Up, "vadds vmuls", "$.*", "s32 s16", ""},
    {kListed, "vcmax vcgmax vcmin vcgmin vcgadd vcpadd vrelu", "$.*", "f16", ""},
    {kM200Up, "vcmax vcgmax vcmin vcgmin vcgadd vcpadd abs max min", "$.*", "f32", ""},
    {kListed, "vconv", "$_*",
     "f322f16 f162f32 f322f16o f162s8 f162s8a f162s8f f162s8c f162s8z f162u8 f162u8a f162u8f f162u8c "
     "f162u8z deq s322f32 f162s32r f162s32a f162s32f f162s32c f162s32z f322s32r f322s32a f322s32f f322s32c "
     "f322s32z u82f16 s82f16 s322f16",
     ""},
    {kM200Up, "vconv", "$_*", "s162u8 s162s8 s162f16 f162s16r", ""},
    {only(Arch::m200), "vconv", "$_*", "f162s4", ""},
    {only(Arch::c220), "vconv", "$_*",
     "f322f32r f322f32f f322f32c f322f32a f322f32z f322f16r f322f16f f322f16c f322f16a f322f16z f322s64r "
     "f322s64f f322s64c f322s64a f322s64z f322s16r f322s16f f322s16c f322s16a f322s16z f162s16f f162s16c "
     "f162s16a f162s16z f162s8r f162u8r s162f16r s162f16f s162f16c s162f16a s162f16z s162f32 s322f32r "
     "s322f32f s322f32c s322f32a s322f32z s322s64 s322s16 s642s32 s642f32r s642f32f s642f32c s642f32a "
     "s642f32z f322bf16r f322bf16f f322bf16c f322bf16a f322bf16z bf162f32 bf162s32r bf162s32f bf162s32c "
     "bf162s32a bf162s32z",
     ""},
    {kListed, "mmad", "mad.u8", "u32u8u8 u8", ""},
    {kListed, "mmad", "mad.s8", "s32s8s8 s8", ""},
    {kListed, "mmad", "mad.u8s8", "s32u8s8 u8s8", ""},
    {kListedJoint, "mmad", "mad.f162f16", "f16f16f16 f162f16", ""},
    {only(Arch::c220), "mmad", "", "f16f16f16 f162f16", "the cube has no sums in f16 here"},
    {kListed, "mmad", "mad.f162f32", "f32f16f16 f162f32", ""},
    {kListed, "mmad", "", "f16f16u2 f16u2", "weights of two bits have no public layout"},
    {only(Arch::m200), "mmad", "mad.u8", "s32u8u8", ""},
    {only(Arch::m200), "mmad", "", "s32u8u2 b8u2", "weights of two bits have no public layout"},
    {only(Arch::m200), "mmad", "mad.s4", "s32s4s4 s4", ""},
    {only(Arch::c220), "mmad", "mad.f322f32", "h322f32 f32f32f32 f322f32", ""},
    {kListed, "vor vand vnot", "$.*", "s16 u16", ""},
    {kListed, "vaxpy vmla", "$.f16", "f16f16f16 f16", ""},
    {kListed, "vaxpy vmla", "$.f32", "f32f32f32 f32", ""},
    {kListed, "vaxpy vmla", "$.fmix", "f32f16f16", ""},
    {kM200Up, "vrelu", "$.*", "f32 s32", ""},
    {kListed, "vcmp", "$_eq.*", "f16 f32", ""},
    {only(Arch::c220), "vcmp", "", "s16", "listed for the cube core only, which has no vector unit"},
    {only(Arch::c220), "vcmpv_eq vcmpvs_eq", "$.*", "s32", ""},
    {kListed, "sqrt", "$.*", "s64 f32", ""},
    {kListed, "abs max min", "$.*", "s64", ""},
    {kListed, "bcnt0 bcnt1 clz", "$", "u64", ""},
    {kListed, "vtranspose", "$.*", "u16 s16 f16", ""},
    {kListedJoint, "broadcast_ub_to_cc", "$.*", "f16 f32 s32", ""},
    {kListedJoint, "vmergech", "$.*", "s8 u8 f16", ""},
    {only(Arch::c100), "vmergech", "$.*", "s16 u16", ""},
    {kListedJoint, "vrpac vaadd viou vbitsort vextract vconcat vmrgsort4", "$.*", "f16", ""},
    {only(Arch::m200), "vrpac vaadd viou vbitsort vextract vconcat vmrgsort4", "$.*", "f32", ""},
    {only(Arch::c220), "vbitsort", "vbitsort32.*", "f16", ""},
    {only(Arch::c220), "vmrgsort4", "vmrgsort4v2.*", "f16", ""},
    {kListedJoint, "vadddeqrelu", "$", "f16s32s32", ""},
    {kListed, "vmulconv", "$_f162u8", "u8f16f16", ""},
    {kListed, "vmulconv", "$_f162s8", "s8f16f16", ""},
    {kListedJoint, "scatter_vector_mov", "$.*", "s16 u16 f16", ""},
    {kListedJoint,
     "scatter_vabs scatter_vexp scatter_vrec scatter_vln scatter_vrsqrt scatter_vsqrt scatter_vadds "
     "scatter_vmuls scatter_vsel scatter_vdiv scatter_vmadd scatter_vmaddrelu",
     "$.*", "f16 f32", ""},
    {kListedJoint, "scatter_vrelu", "$.*", "f16", ""},
    {only(Arch::m200), "scatter_vrelu", "$.*", "s32 f32", ""},
    {only(Arch::m200), "scatter_vadds scatter_vmuls", "$.*", "s32 s16", ""},
    {kListedJoint, "scatter_vaxpy scatter_vmla", "$.f16", "f16f16f16", ""},
    {kListedJoint, "scatter_vaxpy scatter_vmla", "$.f32", "f32f32f32", ""},
    {kListedJoint, "scatter_vaxpy scatter_vmla", "$.fmix", "f32f16f16", ""},
    {kListedJoint, "scatter_vmulconv", "$_f162u8", "u8f16f16", ""},
    {kListedJoint, "scatter_vmulconv", "$_f162s8", "s8f16f16", ""},
    {kListedJoint, "scatter_vconv", "$_*",
     "f322f16 f162f32 f322f16o f162s8 f162s8a f162s8f f162s8c f162s8z f162u8 f162u8a f162u8f f162u8c "
     "f162u8z s322f32 f162s32r f162s32a f162s32f f162s32c f162s32z f322s32a f322s32f f322s32c f322s32z "
     "u82f16 s82f16 s322f16",
     ""},
    {only(Arch::c100), "scatter_vconv", "$_*", "deq f322s32r", ""},
    {kListedJoint, "scatter_vcmp", "$_eq.*", "f16 f32", ""},
    {kListedJoint, "scatter_vadd scatter_vsub scatter_vmul scatter_vmax scatter_vmin", "$.*", "f16 f32 s32", ""},
    {only(Arch::m200), "scatter_vadd scatter_vsub scatter_vmul scatter_vmax scatter_vmin", "$.*", "s16", ""},
    {kListed, "vnchwconv", "scatter_vnchwconv_b16", "s16 u16 f16", ""},
    {kListed, "vnchwconv", "scatter_vnchwconv_b8", "s8 u8", ""},
    {kM200Up, "vnchwconv", "scatter_vnchwconv_b32", "s32 u32 f32", ""},
    {kListedJoint, "scatter_vnchwconv", "$_b16", "s16 u16 f16", ""},
    {kListedJoint, "scatter_vnchwconv", "$_b8", "s8 u8", ""},
    {only(Arch::m200), "scatter_vnchwconv", "$_b32", "u32 s32 f32", ""},
    {kListedJoint, "rpn_cor rpn_cor_diag", "$", "-", ""},
    {kListed, "data_move_out2l1", "copy_gm_to_cbuf", "u8 s8 f16 u16 s16 f32 s32 u32", ""},
    {kListed, "data_move_out2l0a", "load_gm_to_ca", "u8 s8 f16 u16 s16 f32 s32 u32", ""},
    {kListed, "data_move_out2l0b", "load_gm_to_cb", "u8 s8 f16 u16 s16 f32 s32 u32", ""},
    {kListed, "data_move_l12l0a", "load_cbuf_to_ca", "u8 s8 f16 u16 s16 f32 s32 u32", ""},
    {kListed, "data_move_l12l0b", "load_cbuf_to_cb", "u8 s8 f16 u16 s16 f32 s32 u32", ""},
    {kListedJoint, "data_move_l0c2ub", "copy_matrix_cc_to_ubuf.f16", "f16 u16 s16", ""},
    {kListedJoint, "data_move_l0c2ub", "copy_matrix_cc_to_ubuf.f32", "f32", ""},
    {kListedJoint, "data_move_l0c2ub", "copy_matrix_cc_to_ubuf.s32", "s32 u32", ""},
    {kListedJoint, "data_move_l12ub", "copy_cbuf_to_ubuf", "u8 s8 f16 u16 s16 f32 s32 u32", ""},
    {kListedJoint, "data_move_ub2l1", "copy_ubuf_to_cbuf", "u8 s8 f16 u16 s16 f32 s32 u32", ""},
    {kListedJoint, "data_move_ub2out", "copy_ubuf_to_gm", "u8 s8 f16 u16 s16 f32 s32 u32", ""},
    {kListedJoint, "data_move_out2ub", "copy_gm_to_ubuf", "u8 s8 f16 u16 s16 f32 s32 u32", ""},
    {kListedJoint, "data_move_ub2ub", "copy_ubuf_to_ubuf", "u8 s8 f16 u16 s16 f32 s32 u32", ""},
    {kM200Up, "vmaxs vmins", "$.*", "f16 f32 s32 s16", ""},
    {kM200Up, "vcmpvs_ne vcmpvs_eq vcmpvs_gt vcmpvs_ge vcmpvs_lt vcmpvs_le vlrelu", "$.*", "f16 f32", ""},
    {only(Arch::m200), "depthwise_conv", "", "f16f16f16 f32f16f16 s32u8s8 s32s8s8 s32u8u8",
     "no public source says what it computes"},
    {only(Arch::m200), "v4dtrans", "$.*", "s8 u8 s16 u16 f16 f32 s32 u32", ""},
    {kM200Up, "vgather vreduce", "$.*", "s16 u16 f16 f32 s32 u32", ""},
    {only(Arch::m200), "vpadding vscatter", "$.*", "s16 u16 f16 f32 s32 u32", ""},
    {only(Arch::m200), "scatter_vmaxs scatter_vmins", "$.*", "f16 s32 s16 f32", ""},
    {only(Arch::m200), "vbi", "$", "f16", ""},
    {only(Arch::c220), "vbi", "", "f16 f32", "no public operands on this architecture"},
    {kM200Up, "vaddrelu", "$.*", "s16 f16 f32", ""},
    {only(Arch::m200), "vsubrelu", "$.*", "s16 f16 f32", ""},
    {only(Arch::m200), "vaddreluconv vsubreluconv", "$_*", "s162s8 f162s8 f322f16", ""},
    {only(Arch::m200), "vcbd", "$_*", "s322s16", ""},
    {only(Arch::c220), "vshr", "$.*", "u16 s16 u32 s32", ""},
    {only(Arch::c220), "vgatherb vbrcb", "$.u16", "u16u16", ""},
    {only(Arch::c220), "vgatherb vbrcb", "$.s16", "s16s16", ""},
    {only(Arch::c220), "vgatherb vbrcb", "$.f16", "f16f16", ""},
    {only(Arch::c220), "vgatherb vbrcb", "$.u32", "u32u32", ""},
    {only(Arch::c220), "vgatherb vbrcb", "$.s32", "s32s32", ""},
    {only(Arch::c220), "vgatherb vbrcb", "$.f32", "f32f32", ""},
    {only(Arch::c220), "data_move_pad", "copy_gm_to_ubuf_align_b8", "u8 s8", ""},
    {only(Arch::c220), "data_move_pad", "copy_gm_to_ubuf_align_b16", "u16 s16 f16 bf16", ""},
    {only(Arch::c220), "data_move_pad", "copy_gm_to_ubuf_align_b32", "s32 f32 u32", ""},
    {only(Arch::c220), "vreducev2 vcopy", "$.*", "s16 u16 f16 f32 s32 u32", ""},
    {only(Arch::c220), "vbitsort32 vmrgsort4v2", "$.*", "f16 f32", ""},
    {only(Arch::c220), "vshl", "$.*", "s16 u16 s32 u32", ""},
    {only(Arch::c220), "data_move_l12out", "copy_cbuf_to_gm", "u8 s8 f16 u16 s16 f32 s32 u32", ""},
    {only(Arch::c220), "data_move_l12bt", "copy_cbuf_to_bt", "u8 s8 f16 u16 s16 f32 s32 u32", ""},
    {only(Arch::c220), "data_move_transpose_l12l0a", "load_cbuf_to_ca_transpose.b8", "u8 s8", ""},
    {only(Arch::c220), "data_move_transpose_l12l0a", "load_cbuf_to_ca_transpose.b16", "f16 u16 s16", ""},
    {only(Arch::c220), "data_move_transpose_l12l0a", "load_cbuf_to_ca_transpose.b32", "f32 s32 u32", ""},
    {only(Arch::c220), "data_move_transpose_l12l0b", "load_cbuf_to_cb_transpose.b8", "u8 s8", ""},
    {only(Arch::c220), "data_move_transpose_l12l0b", "load_cbuf_to_cb_transpose.b16", "f16 u16 s16", ""},
    {only(Arch::c220), "data_move_transpose_l12l0b", "load_cbuf_to_cb_transpose.b32", "f32 s32 u32", ""},
    {only(Arch::c220), "set_l1", "create_cbuf_matrix.b16", "f16 u16 s16", ""},
    {only(Arch::c220), "set_l1", "create_cbuf_matrix.b32", "f32 s32 u32", ""},
    {only(Arch::c220), "set_l0a", "create_ca_matrix.b16", "f16 u16 s16", ""},
    {only(Arch::c220), "set_l0a", "create_ca_matrix.b32", "f32 s32 u32", ""},
    {only(Arch::c220), "set_l0b", "create_cb_matrix.b16", "f16 u16 s16", ""},
    {only(Arch::c220), "set_l0b", "create_cb_matrix.b32", "f32 s32 u32", ""},
    {only(Arch::c220), "fix_pipe_l0c2l1", "copy_matrix_cc_to_cbuf", "f32 s32 f16", ""},
    {only(Arch::c220), "fix_pipe_l0c2out", "copy_matrix_cc_to_gm", "f32 s32 f16", ""},
    {only(Arch::c220), "fix_pipe_l12fb", "copy_cbuf_to_fbuf", "u8 s8 f16 u16 s16 f32 s32 u32", ""},
    {only(Arch::c220), "fix_pipe_pre_conv_requant", "copy_matrix_cc_to_gm", "s322s8 s322u8 s322s4", ""},
    {only(Arch::c220), "fix_pipe_pre_conv_dequant", "copy_matrix_cc_to_gm", "s322f16", ""},
    {only(Arch::c220), "fix_pipe_pre_conv_quant", "copy_matrix_cc_to_gm", "f322s8 f322u8 f322s4", ""},
    {only(Arch::c220), "fix_pipe_pre_conv_cast", "copy_matrix_cc_to_gm", "f322f16 f322bf16", ""},
    {only(Arch::c220), "fix_pipe_pre_act_normal_relu fix_pipe_post_transform_nz2nd", "copy_matrix_cc_to_gm",
     "f32 f16 bf16 s8 u8 s4 s32", ""},
    {only(Arch::c220), "fix_pipe_pre_act_scalar_relu fix_pipe_pre_act_vector_relu", "copy_matrix_cc_to_gm",
     "f16 s8 u8 s4", ""},
    {only(Arch::c220), "data_move_out2l1_nd2nz", "copy_gm_to_cbuf_multi_nd2nz_b8", "u8 s8", ""},
    {only(Arch::c220), "data_move_out2l1_nd2nz", "copy_gm_to_cbuf_multi_nd2nz_b16", "f16 bf16 u16 s16", ""},
    {only(Arch::c220), "data_move_out2l1_nd2nz", "copy_gm_to_cbuf_multi_nd2nz_b32s", "f32 s32 u32", ""},
};

// Calls `f` with each word of `list`.
template <class F>
void for_words(std::string_view list, const F& f) {
  while (!list.empty()) {
    const usize end = std::min(list.find(' '), list.size());
    f(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

std::string spell(std::string_view pattern, std::string_view intrinsic, std::string_view type) {
  std::string out;
  for (const char c : pattern) {
    if (c == '$') {
      out += intrinsic;
    } else if (c == '*') {
      out += type;
    } else {
      out += c;
    }
  }
  return out;
}

// Whether `spelling` is an instruction of `arch`, with its type if it has any.
bool exists(std::string_view spelling, Arch arch) {
  const usize dot = spelling.find('.');
  const Row* row = row_of(spelling.substr(0, dot));
  if (row == nullptr || !contains(row->archs, arch)) return false;
  if (dot == std::string_view::npos) return row->types.empty();
  return std::ranges::any_of(
      row->types, [&](const TypeForm& t) { return t.name == spelling.substr(dot + 1) && contains(t.archs, arch); });
}

std::vector<PublicForm> make_forms() {
  std::vector<PublicForm> out;
  for (const FormFamily& family : kFormFamilies) {
    for_words(family.intrinsics, [&](std::string_view intrinsic) {
      for_words(family.types, [&](std::string_view type) {
        for (const Arch arch : {Arch::c100, Arch::m200, Arch::c220}) {
          if (!contains(family.archs, arch)) continue;
          PublicForm form{intrinsic, type, arch, spell(family.spelling, intrinsic, type), {}};
          if (!exists(form.spelling, arch)) {
            form.spelling.clear();
            form.reason = family.reason;
          }
          out.push_back(std::move(form));
        }
      });
    });
  }
  return out;
}

}  // namespace

std::span<const PublicForm> public_forms() {
  static const std::vector<PublicForm> forms = make_forms();
  return forms;
}

PublicCount count_public_forms(Arch arch) {
  PublicCount count;
  for (const PublicForm& f : public_forms()) {
    if (f.arch != arch) continue;
    ++count.total;
    count.implemented += f.spelling.empty() ? 0 : 1;
  }
  return count;
}

}  // namespace vinci::isa
