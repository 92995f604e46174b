; --arch c100
.arch c220
  end
