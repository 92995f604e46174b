.arch c220
  end
.arch m200
