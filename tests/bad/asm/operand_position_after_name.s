.arch c220
  add rd=X1, 1, 2
  end
