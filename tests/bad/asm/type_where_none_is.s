.arch c220
  copy_gm_to_ubuf.f16 0, 0, 0, 1, 1, 0, 0
  end
