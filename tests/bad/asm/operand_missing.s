.arch c220
  mad.f162f32 0, 0, 0, 16, 16, 16
  copy_gm_to_ubuf 0, 0, sid=0, lenBurst=1, srcGap=0, dstGap=0
  end
