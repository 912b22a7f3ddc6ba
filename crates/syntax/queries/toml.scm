(comment) @comment
(array) @opaque

(table . (dotted_key (_) @scope (_) @name .)) @definition.table
(table . [(bare_key) (quoted_key)] @name) @definition.table
(table_array_element . (dotted_key (_) @scope (_) @name .)) @definition.table
(table_array_element . [(bare_key) (quoted_key)] @name) @definition.table
(pair . (dotted_key (_) @scope (_) @name .)) @definition.key
(pair . [(bare_key) (quoted_key)] @name) @definition.key
