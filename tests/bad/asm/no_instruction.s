.arch c220
; only a comment
