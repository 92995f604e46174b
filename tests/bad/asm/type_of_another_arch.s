.arch c220
  mad.f162f16 0, 0, 0, 16, 16, 16, 1
  end
