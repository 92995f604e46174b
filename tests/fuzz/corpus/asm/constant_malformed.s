.arch c220
.const = 1
.const A 1
.const B =
.const C = 1 2
.const X3 = 1
.const PIPE_X = 1
.const D = X1
  end
