(comment) @comment
; The elements of an array have no names.
(array) @opaque

(pair key: (string) @name) @definition.key
