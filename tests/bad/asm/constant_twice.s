.arch c220
.const N = 1
.const N = 2
.alias N = X3
  end
