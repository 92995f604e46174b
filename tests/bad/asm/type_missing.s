.arch c220
  mad 0, 0, 0, 16, 16, 16, 1
  end
