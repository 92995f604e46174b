.arch c220
  mad_bf162f32 0, 0, 0, 16, 16, 16, 1
  copy_matrix_cc_to_gm_bf16 0, 0
  winograd_conv 0
  end
