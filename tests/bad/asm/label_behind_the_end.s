.arch c220
  b last
last:
