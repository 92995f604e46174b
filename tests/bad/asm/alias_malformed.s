.arch c220
.alias i = 5
.alias j = X32
.alias EVENT_ID0 = X1
  end
