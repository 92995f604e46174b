.arch c220
  b 2
  end
