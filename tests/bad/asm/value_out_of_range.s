.arch c220
  mad.f162f32 0, 0, 0, 4096, 16, 16, 1
  copy_gm_to_ubuf -32, 0, 0, 1, 1, 0, 0
  mad.f162f32 0, 0, 0, 16, 16, 16, 2
  end
