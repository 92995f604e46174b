.arch c100
  copy_matrix_cc_to_gm 0, 0, 0, 16, 16, 16, 16, 0, 1, 0, 0, 1
  end
