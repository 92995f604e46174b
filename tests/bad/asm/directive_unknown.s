.arch c220
.cnst N = 1
  end
