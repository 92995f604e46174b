.arch c100
  mad.f32 0, 0, 0, 16, 16, 16, 1
  end
