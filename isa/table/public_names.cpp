// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/table/public_names.h"

#include <algorithm>
#include <set>
#include <vector>

#include "isa/table/table.h"

namespace vinci::isa {
namespace {

// Names that share a fate. An instruction of the table is implemented whatever its family says.
struct Family {
  ArchSet archs;            // as PublicName::archs
  std::string_view reason;  // why those are refused that are not in the table
  std::string_view names;   // separated by a blank
};

constexpr Family kFamilies[] = {
    // Instructions of the public sources; where the table lacks one, the reason says so.
    {kAllArchs, "it is not modelled",
     "abs bcnt0 bcnt1 broadcast_ub_to_cc clz col2img conv_f322f16o conv_f322s32a conv_f322s32c conv_f322s32f "
     "conv_f322s32r copy_cbuf_to_bt copy_cbuf_to_fbuf copy_cbuf_to_gm copy_cbuf_to_ubuf copy_gm_to_cbuf "
     "copy_gm_to_cbuf_multi_nd2nz_b16 copy_gm_to_cbuf_multi_nd2nz_b32s copy_gm_to_cbuf_multi_nd2nz_b8 copy_gm_to_ubuf "
     "copy_gm_to_ubuf_align_b16 copy_gm_to_ubuf_align_b32 copy_gm_to_ubuf_align_b8 copy_matrix_cc_to_cbuf "
     "copy_matrix_cc_to_gm copy_matrix_cc_to_ubuf copy_matrix_ubuf_to_cc copy_ubuf_to_cbuf copy_ubuf_to_gm "
     "copy_ubuf_to_gm_align_b16 copy_ubuf_to_gm_align_b32 copy_ubuf_to_gm_align_b8 copy_ubuf_to_ubuf "
     "copy_vector_cc_to_ubuf copy_vector_ubuf_to_cc create_ca_matrix create_ca_matrix_bf16 create_cb_matrix "
     "create_cb_matrix_bf16 create_cbuf_matrix create_cbuf_matrix_bf16 dc_preload dcci dsb ffts_cross_core_sync "
     "get_acc_val get_block_idx get_block_num get_cmpmask get_coreid get_ctrl get_max_min_cnt get_overflow_status "
     "get_pc get_rpn_cor_ir get_rsvd_cnt get_status get_subblockdim get_subblockid get_sys_cnt get_vms4_sr "
     "img2col_cbuf_to_ca img2col_cbuf_to_cb img2col_cbuf_to_ub img2colv2_cbuf_to_ca img2colv2_cbuf_to_ca_s4 "
     "img2colv2_cbuf_to_cb img2colv2_cbuf_to_ub ld_dev load_cbuf_to_ca load_cbuf_to_ca_s4 load_cbuf_to_ca_transpose "
     "load_cbuf_to_cb load_cbuf_to_cb_s4 load_cbuf_to_cb_sp load_cbuf_to_cb_transpose load_cbuf_to_cb_transpose_s4 "
     "load_gm_to_ca load_gm_to_ca_s4 load_gm_to_cb load_gm_to_cb_s4 load_gm_to_cbuf mad mad_bf162f32 mad_s4 mad_sp max "
     "min pipe_barrier "
     "preload rpn_cor rpn_cor_diag sbitset0 sbitset1 scatter_vnchwconv_b16 scatter_vnchwconv_b32 scatter_vnchwconv_b8 "
     "set_atomic_add set_atomic_bf16 set_atomic_f16 set_atomic_f32 set_atomic_max set_atomic_min set_atomic_none "
     "set_atomic_s16 set_atomic_s32 set_atomic_s8 set_cmpmask set_ctrl set_deqscale set_fcol2img set_ffts_base_addr "
     "set_flag set_fmatrix set_fmatrix_b set_fpc set_l0_set_value set_l1_3d_size set_l3d_rpt set_lrelu_alpha "
     "set_mask_count set_mask_norm set_mov_pad_val set_nd_para set_padding set_quant_pre set_relu_alpha set_rpn_cor_ir "
     "set_rpn_offset set_va_reg_sb set_vector_mask set_vector_mask_dup sff0 sff1 sflbits sqrt st_dev trap v4dtrans "
     "vaadd vabs vadd vadddeqrelu vaddrelu vaddreluconv_f162s8 vaddreluconv_f322f16 vaddreluconv_s162s8 "
     "vaddreluconv_vdeqs162b8 vadds vand vaxpy vbi vbitsort vbitsort32 vbrcb vcadd vcbd_s322s16 vcgadd vcgmax vcgmin "
     "vcmax vcmin vcmp_eq vcmp_ge vcmp_gt vcmp_le vcmp_lt vcmp_ne vcmpv_eq vcmpv_ge vcmpv_gt vcmpv_le vcmpv_lt "
     "vcmpv_ne vcmpvs_eq vcmpvs_ge vcmpvs_gt vcmpvs_le vcmpvs_lt vcmpvs_ne vconcat vconv_bf162f32 vconv_bf162s32a "
     "vconv_bf162s32c vconv_bf162s32f vconv_bf162s32r vconv_bf162s32z vconv_deq vconv_deqs162b8 vconv_deqs162b8h "
     "vconv_deqs162b8l vconv_f162f32 vconv_f162s16a vconv_f162s16c vconv_f162s16f vconv_f162s16r vconv_f162s16z "
     "vconv_f162s32a vconv_f162s32c vconv_f162s32f vconv_f162s32r vconv_f162s32z vconv_f162s4 vconv_f162s4a "
     "vconv_f162s4c vconv_f162s4f vconv_f162s4r vconv_f162s4z vconv_f162s8 vconv_f162s8a vconv_f162s8c vconv_f162s8f "
     "vconv_f162s8r vconv_f162s8z vconv_f162u8 vconv_f162u8a vconv_f162u8c vconv_f162u8f vconv_f162u8r vconv_f162u8z "
     "vconv_f322bf16a vconv_f322bf16c vconv_f322bf16f vconv_f322bf16r vconv_f322bf16z vconv_f322f16 vconv_f322f16a "
     "vconv_f322f16c vconv_f322f16f vconv_f322f16o vconv_f322f16r vconv_f322f16z vconv_f322f32a vconv_f322f32c "
     "vconv_f322f32f vconv_f322f32r vconv_f322f32z vconv_f322s16a vconv_f322s16c vconv_f322s16f vconv_f322s16r "
     "vconv_f322s16z vconv_f322s32a vconv_f322s32c vconv_f322s32f vconv_f322s32r vconv_f322s32z vconv_f322s64a "
     "vconv_f322s64c vconv_f322s64f vconv_f322s64r vconv_f322s64z vconv_s162f16 vconv_s162f16a vconv_s162f16c "
     "vconv_s162f16f vconv_s162f16r vconv_s162f16z vconv_s162f32 vconv_s162s8 vconv_s162u8 vconv_s322f16 vconv_s322f32 "
     "vconv_s322f32a vconv_s322f32c vconv_s322f32f vconv_s322f32r vconv_s322f32z vconv_s322s16 vconv_s322s64 "
     "vconv_s42f16 vconv_s642f32a vconv_s642f32c vconv_s642f32f vconv_s642f32r vconv_s642f32z vconv_s642s32 "
     "vconv_s82f16 vconv_u82f16 vconv_vdeqs162b8 vconv_vdeqs162b8h vconv_vdeqs162b8l vcopy vcpadd vdiv vector_dup vexp "
     "vextract vgather vgatherb viou vln vlrelu vmadd vmaddrelu vmax vmaxs vmergech vmin vmins vmla vmrgsort4 "
     "vmrgsort4v2 vmul vmulconv_f162s8 vmulconv_f162u8 vmuls vnot vor vpadding vrec vreduce vreducev2 vrelu vrpac "
     "vrsqrt vscatter vsel vshl vshr vsqrt vsub vsubrelu vsubreluconv_f162s8 vsubreluconv_f322f16 vsubreluconv_s162s8 "
     "vsubreluconv_vdeqs162b8 vtranspose wait_flag wait_flag_dev"},
    {kJointArchs, "it is not modelled",
     "scatter_vabs scatter_vabs_f16 scatter_vabs_f32 scatter_vadd scatter_vadd_f16 scatter_vadd_f32 scatter_vadd_s16 "
     "scatter_vadd_s32 scatter_vadds scatter_vadds_f16 scatter_vadds_f32 scatter_vadds_s16 scatter_vadds_s32 "
     "scatter_vaxpy scatter_vaxpy_f16 scatter_vaxpy_f32 scatter_vaxpy_fmix scatter_vcmp_eq scatter_vcmp_eq_f16 "
     "scatter_vcmp_eq_f32 scatter_vcmp_ge scatter_vcmp_ge_f16 scatter_vcmp_ge_f32 scatter_vcmp_gt scatter_vcmp_gt_f16 "
     "scatter_vcmp_gt_f32 scatter_vcmp_le scatter_vcmp_le_f16 scatter_vcmp_le_f32 scatter_vcmp_lt scatter_vcmp_lt_f16 "
     "scatter_vcmp_lt_f32 scatter_vcmp_ne scatter_vcmp_ne_f16 scatter_vcmp_ne_f32 scatter_vconv_deq "
     "scatter_vconv_f162f32 scatter_vconv_f162s32a scatter_vconv_f162s32c scatter_vconv_f162s32f "
     "scatter_vconv_f162s32r scatter_vconv_f162s32z scatter_vconv_f162s8 scatter_vconv_f162s8a scatter_vconv_f162s8c "
     "scatter_vconv_f162s8f scatter_vconv_f162s8z scatter_vconv_f162u8 scatter_vconv_f162u8a scatter_vconv_f162u8c "
     "scatter_vconv_f162u8f scatter_vconv_f162u8z scatter_vconv_f322f16 scatter_vconv_f322f16o scatter_vconv_f322s32a "
     "scatter_vconv_f322s32c scatter_vconv_f322s32f scatter_vconv_f322s32r scatter_vconv_f322s32z "
     "scatter_vconv_s322f16 scatter_vconv_s322f32 scatter_vconv_s82f16 scatter_vconv_u82f16 scatter_vdiv "
     "scatter_vdiv_f16 scatter_vdiv_f32 scatter_vector_mov scatter_vector_mov_f16 scatter_vector_mov_s16 "
     "scatter_vector_mov_u16 scatter_vexp scatter_vexp_f16 scatter_vexp_f32 scatter_vln scatter_vln_f16 "
     "scatter_vln_f32 scatter_vmadd scatter_vmadd_f16 scatter_vmadd_f32 scatter_vmaddrelu scatter_vmaddrelu_f16 "
     "scatter_vmaddrelu_f32 scatter_vmax scatter_vmax_f16 scatter_vmax_f32 scatter_vmax_s16 scatter_vmax_s32 "
     "scatter_vmaxs scatter_vmaxs_f16 scatter_vmaxs_f32 scatter_vmaxs_s16 scatter_vmaxs_s32 scatter_vmin "
     "scatter_vmin_f16 scatter_vmin_f32 scatter_vmin_s16 scatter_vmin_s32 scatter_vmins scatter_vmins_f16 "
     "scatter_vmins_f32 scatter_vmins_s16 scatter_vmins_s32 scatter_vmla scatter_vmla_f16 scatter_vmla_f32 "
     "scatter_vmla_fmix scatter_vmul scatter_vmul_f16 scatter_vmul_f32 scatter_vmul_s16 scatter_vmul_s32 "
     "scatter_vmulconv_f162s8 scatter_vmulconv_f162u8 scatter_vmuls scatter_vmuls_f16 scatter_vmuls_f32 "
     "scatter_vmuls_s16 scatter_vmuls_s32 scatter_vrec scatter_vrec_f16 scatter_vrec_f32 scatter_vrelu "
     "scatter_vrelu_f16 scatter_vrelu_f32 scatter_vrelu_s32 scatter_vrsqrt scatter_vrsqrt_f16 scatter_vrsqrt_f32 "
     "scatter_vsel scatter_vsel_f16 scatter_vsel_f32 scatter_vsqrt scatter_vsqrt_f16 scatter_vsqrt_f32 scatter_vsub "
     "scatter_vsub_f16 scatter_vsub_f32 scatter_vsub_s16 scatter_vsub_s32"},
    {kAllArchs, "no public source says what it computes",
     "batch_offset copy_depthwise_cc_to_ubuf copy_matrix_cbuf_to_cc copy_small_matrix_cc_to_ubuf "
     "copy_small_matrix_ubuf_to_cc copy_ubuf_to_fbuf depthwise_conv_v2 fifr1 fix_depthwisein_cc_to_cbuf "
     "fix_depthwisein_cc_to_ubuf fix_depthwiseout_cc_to_cbuf fix_matrix_cc_to_cbuf fix_matrix_cc_to_ubuf "
     "fix_winograd_cc_to_cbuf fix_winograd_cc_to_ubuf get_imm insert_imm insert_reg ldva load_cbuf_to_ca_winograd "
     "load_cbuf_to_ca_winograd_v2 load_cbuf_to_cb_winograd load_cbuf_to_cb_winograd_v2 mad_tf322f32 release_pbid "
     "rpn_cor_diag2 vdp vld_va_reg vsort winograd_conv"},
    {only(Arch::m200), "no public source says what it computes", "depthwise_conv"},
    {kAllArchs, "weights of two bits and sparse weights have no public layout",
     "load_cbuf_to_cb_b2 load_smask_table_from_cbuf load_smask_table_from_gm "
     "load_smask_table_from_ub mad_b8u2 mad_f16u2 set_smask_index"},
    {kAllArchs, "compressed data have no public format",
     "compress_ub_to_gm decompress_gm_to_cbuf decompress_gm_to_ub hebcd_out_to_ub hebce_l1_to_out hebce_ub_to_out "
     "load_decompress_header_from_gm load_gm_to_ca_unzip load_gm_to_cb_unzip load_gm_to_cbuf_unzip "
     "load_unzip_index_from_gm set_rawheader_to_gm"},
    {kAllArchs, "the image front end (AIPP) has no public definition of its registers",
     "load_image_to_cbuf set_aipp_spr_0 set_aipp_spr_1 set_aipp_spr_10 set_aipp_spr_11 set_aipp_spr_12 set_aipp_spr_13 "
     "set_aipp_spr_14 set_aipp_spr_15 set_aipp_spr_16 set_aipp_spr_17 set_aipp_spr_18 set_aipp_spr_19 set_aipp_spr_2 "
     "set_aipp_spr_20 set_aipp_spr_21 set_aipp_spr_22 set_aipp_spr_23 set_aipp_spr_24 set_aipp_spr_25 set_aipp_spr_26 "
     "set_aipp_spr_27 set_aipp_spr_28 set_aipp_spr_29 set_aipp_spr_3 set_aipp_spr_30 set_aipp_spr_31 set_aipp_spr_4 "
     "set_aipp_spr_5 set_aipp_spr_6 set_aipp_spr_7 set_aipp_spr_8 set_aipp_spr_9 store_l1_to_out_image"},
    {kAllArchs, "a special register without public meaning",
     "get_arch_ver get_cond get_condition_flag get_data_main_base get_data_size get_data_ub_base get_icache_prl_st "
     "get_k_num get_l2_in_main get_l2_vaddr_base get_lpcnt get_para_base get_safety_crc_data get_safety_crc_en "
     "get_smmu_tag_ver get_st_atomic_cfg get_stack_phy_base get_sys_va_base get_tensorc get_workspace "
     "set_cache_normread set_cache_notwriteback set_cache_readinv set_cache_readlast set_channel_para set_cond "
     "set_condition_flag set_data_exp_0 set_data_exp_1 set_data_exp_2 set_data_exp_3 set_elt_antiq_para "
     "set_elt_src_para set_fix_clip_relu set_fixp_addr set_fmatrix_dual_0 set_fmatrix_dual_1 set_fpdeq set_l0a_2d "
     "set_l0b_2d set_l1_2d set_loop3_para set_low_pre_tbl set_lpcnt set_pad_val_outtol1 set_pad_val_outtoub "
     "set_pcie_rd_ctrl set_pcie_wr_ctrl set_pnt_coe set_quant_post set_reqscale set_safety_crc_en set_safety_crc_excp "
     "set_st_atomic_cfg set_tensora set_tensorb set_vpipe set_vsp"},
    {kSplitArchs, "a program that wrote the register knows its value; the read has no public operands",
     "get_ffts_base_addr get_fpc"},
    {kAllArchs, "flags of this kind have no public rules", "mte4_mte5_off mte4_mte5_on wait_and_set wait_sync"},
    {kAllArchs, "no public operands; copy_*_align_b8, _b16 and _b32 are the forms that have them",
     "copy_cbuf_to_gm_align copy_gm_to_cbuf_align copy_gm_to_ubuf_align copy_gm_to_ubuf_pad_b16 "
     "copy_gm_to_ubuf_pad_b32 copy_gm_to_ubuf_pad_b8 copy_ubuf_to_gm_align copy_ubuf_to_gm_pad_b16 "
     "copy_ubuf_to_gm_pad_b32 copy_ubuf_to_gm_pad_b8"},
    {archs(Arch::m200, Arch::c220), "four-bit data have no public layout there",
     "img2colv2_cbuf_to_cb_s4 img2colv2_cbuf_to_ub_s4 load_gm_to_cbuf_s4"},
    {kJointArchs, "no public source says what it computes",
     "scatter_vconcat_f16 scatter_vconcat_f32 scatter_vcshuffle_b16 scatter_vcshuffle_b32 scatter_vcshuffle_b8 "
     "scatter_vextract_f16 scatter_vextract_f32 scatter_vscmerge scatter_vscmerge_b16 scatter_vscmerge_b8 "
     "scatter_vscmerge_f16 scatter_vscsplit scatter_vscsplit_b16 scatter_vscsplit_b8 scatter_vscsplit_f16"},
    {kJointArchs, "no public table of a chip has this type",
     "scatter_vabs_s16 scatter_vcmp_eq_s16 scatter_vcmp_ge_s16 scatter_vcmp_gt_s16 scatter_vcmp_le_s16 "
     "scatter_vcmp_lt_s16 scatter_vcmp_ne_s16"},
    {only(Arch::m200), "its register form has no public operands", "vci"},
    {0, "an instruction of the register vector unit (310B, 950)",
     "get_ar get_vl mem_bar mov_vspr movp_b16 movp_b32 pdintlv_b16 pdintlv_b32 pdintlv_b8 pge_b16 pge_b32 pge_b8 "
     "pintlv_b16 pintlv_b32 pintlv_b8 plds plt_b16 plt_b32 plt_b8 pltm_b16 pltm_b32 pltm_b8 pmov ppack pset_b16 "
     "pset_b32 pset_b8 psts punpack sprclr vag_b16 vag_b32 vbr vcmps_eq vcmps_ge vcmps_gt vcmps_le vcmps_lt vcmps_ne "
     "vcvt vdintlv vdup vgather2 vintlv vld vldas vlds vldus vmula vpack vshls vshrs vsldb vsqz vsstb vst vstai vstar "
     "vstas vsts vstui vstur vstus vtrc"},
    {0, "an instruction of 310B or 950",
     "copy_matrix_cc_to_ub copy_matrix_cc_to_ub_bf16 copy_matrix_cc_to_ub_s4 get_buf hset_flag hwait_flag "
     "load_gm_to_ca_2dv2 load_gm_to_ca_2dv2_s4 load_gm_to_cb_2dv2 load_gm_to_cb_2dv2_s4 load_gm_to_cbuf_2dv2 "
     "load_gm_to_cbuf_2dv2_s4 mad_mx mvf_dci mvf_gm_to_ub_b128_u16 mvf_gm_to_ub_b128_u32 mvf_gm_to_ub_b256_u16 "
     "mvf_gm_to_ub_b256_u32 mvf_gm_to_ub_b32_u16 mvf_gm_to_ub_b32_u32 mvf_gm_to_ub_b512_u16 mvf_gm_to_ub_b512_u32 "
     "mvf_gm_to_ub_b64_u16 mvf_gm_to_ub_b64_u32 rls_buf vcbd_s162s32 vcbd_s162u32 vcbd_s162u8 vcbd_s322u16 "
     "vcbd_s322u8 vcbd_u162s32 vcbd_u162u32 vcbd_u162u8 vcbd_u322s16 vcbd_u322u16 vcbd_u322u8 vcbd_u82s16 "
     "vcbd_u82s32 vcbd_u82u16 vcbd_u82u32"},
    {0, "a function of the host, the compiler or the CPU twin, not an instruction",
     "__ib_set_stub __ib_wait_stub __sync_all_stub fake_overflow_status_1 fake_overflow_status_2 get_process_num "
     "get_thread_dim get_thread_id pc_trace_off pc_trace_on set_block_dim set_core_type use_pipe_v use_pipe_v2"},
    {0, "a bit of CTRL; write it with set_ctrl", "set_hf32 set_mmad_direction"},
    {0, "a function of kernel languages; write mov, ld_ubuf or st_ubuf", "reg_mov"},
};

// Names whose difference from an instruction is a type of C++, and those that older kernel languages use.
struct Respelling {
  std::string_view name, spelling;
};
constexpr Respelling kRespellings[] = {
    {"copy_matrix_cc_to_cbuf_b4", "copy_matrix_cc_to_cbuf"},
    {"copy_matrix_cc_to_cbuf_bf16", "copy_matrix_cc_to_cbuf"},
    {"copy_matrix_cc_to_cbuf_s4", "copy_matrix_cc_to_cbuf"},
    {"copy_matrix_cc_to_gm_b4", "copy_matrix_cc_to_gm"},
    {"copy_matrix_cc_to_gm_bf16", "copy_matrix_cc_to_gm"},
    {"copy_matrix_cc_to_gm_s4", "copy_matrix_cc_to_gm"},
    {"fmax", "max.f32"},
    {"fmin", "min.f32"},
    {"set_atomic_add_close", "set_atomic_none"},
    {"set_atomic_add_open", "set_atomic_add"},
    {"set_va_reg", "set_va_reg_sb"},
    {"vlog", "vln"},
};

const TypeForm* type_of(const Row& row, std::string_view type) {
  const auto it = std::ranges::find(row.types, type, &TypeForm::name);
  return it == row.types.end() ? nullptr : &*it;
}

void implement(PublicName& p, const Row& row, const TypeForm* type, std::string spelling) {
  p.row = &row;
  p.archs = type == nullptr ? row.archs : static_cast<ArchSet>(row.archs & type->archs);
  p.spelling = std::move(spelling);
  p.reason = {};
}

// The instruction that `text` spells in assembly, with `separator` before its type.
void implement(PublicName& p, std::string_view text, char separator) {
  if (const Row* row = row_of(text)) return implement(p, *row, nullptr, std::string(text));
  const usize at = text.rfind(separator);
  if (at == std::string_view::npos) return;
  const Row* row = row_of(text.substr(0, at));
  const TypeForm* type = row == nullptr ? nullptr : type_of(*row, text.substr(at + 1));
  if (type != nullptr) implement(p, *row, type, std::string(row->name) + '.' + std::string(type->name));
}

std::vector<PublicName> make_names() {
  std::vector<PublicName> out;
  for (const Family& f : kFamilies) {
    for (std::string_view rest = f.names; !rest.empty();) {
      const usize end = std::min(rest.find(' '), rest.size());
      PublicName& p = out.emplace_back();
      p.name = rest.substr(0, end);
      p.archs = f.archs;
      p.reason = f.reason;
      implement(p, p.name, '_');
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  for (const Respelling& r : kRespellings) {
    PublicName& p = out.emplace_back();
    p.name = r.name;
    implement(p, r.spelling, '.');
  }
  std::ranges::sort(out, {}, &PublicName::name);
  return out;
}

// The name of the instruction: that of the row, or of a refused name without the suffix of its type.
std::string_view stem(const PublicName& p) {
  if (p.row != nullptr) return p.row->name;
  static constexpr std::array<std::string_view, 11> kTypes{"_f16", "_f32",  "_fmix", "_s8",  "_s16", "_s32",
                                                           "_u16", "_bf16", "_b8",   "_b16", "_b32"};
  for (const std::string_view type : kTypes) {
    if (p.name.ends_with(type)) return p.name.substr(0, p.name.size() - type.size());
  }
  return p.name;
}

}  // namespace

std::span<const PublicName> public_names() {
  static const std::vector<PublicName> names = make_names();
  return names;
}

const PublicName* public_name(std::string_view name) {
  const std::span<const PublicName> names = public_names();
  const auto it = std::ranges::lower_bound(names, name, {}, &PublicName::name);
  return it != names.end() && it->name == name ? &*it : nullptr;
}

PublicCount count_public(Arch arch) {
  std::set<std::string_view> implemented, all;
  for (const PublicName& p : public_names()) {
    if (!contains(p.archs, arch)) continue;
    all.insert(stem(p));
    if (p.row != nullptr) implemented.insert(stem(p));
  }
  return {implemented.size(), all.size()};
}

}  // namespace vinci::isa
