.arch c2200
  end
